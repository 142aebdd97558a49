package headless_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
)

// aliased is a row that people call something else.
func aliased(name, alias string) *sources.Row {
	row := named("0", name)
	row.Alias, row.AliasHow = alias, sources.Told
	return row
}

func TestWhatPeopleCallAPrimitiveIsTakenAsItsName(t *testing.T) {
	t.Parallel()
	guessed := aliased("21:4", "guess")
	guessed.AliasHow = sources.Inferred
	feed := newScript(live(guessed, aliased("17:4", "compactor"), aliased("18:4", "twin"), aliased("19:4", "twin"), aliased("20:4", "x"), named("0", "x"), named("0", "app:leader:billing")))
	for _, tt := range []struct {
		name, found string
		err         error
		says        string
	}{
		{"a/compactor", "17:4", nil, ""},
		{"a/17:4", "17:4", nil, ""},
		{"a/guess", "", headless.ErrNotFound, "no primitive goes by this name"}, // shown, and no name
		{"a/x", "x", nil, ""},                                                   // its own name, and not what another one is called
		{"a/twin", "", headless.ErrAmbiguous, "a/0/18:4 (twin), a/0/19:4 (twin)"},
		{"a/compacter", "", headless.ErrNotFound, "did you mean a/compactor?"},
		{"a/17:5", "", headless.ErrNotFound, "did you mean a/17:4?"},
		{"a/billing", "", headless.ErrNotFound, "did you mean a/app:leader:billing?"},
		{"a/something else", "", headless.ErrNotFound, "name 1 (a/...): not found: no primitive goes by this name; `coordtop get a` lists them"},
	} {
		row, err := headless.Find(t.Context(), feed, tt.name, "", time.Minute, nil)
		switch {
		case !errors.Is(err, tt.err) || err != nil && !strings.Contains(err.Error(), tt.says):
			t.Errorf("%q: %v, want %v with %q", tt.name, err, tt.err, tt.says)
		case err == nil && row.Name != tt.found:
			t.Errorf("%q: found %s, want %s", tt.name, row.Name, tt.found)
		}
	}
}

func TestTheOnlyPrimitiveAskedForThatDoesNotExistIsNotFound(t *testing.T) {
	t.Parallel()
	gone := named("0", "gone")
	gone.Absent, gone.At = true, time.Now()
	for _, tt := range []struct {
		what  string
		rows  []*sources.Row
		names []string
		err   error
	}{
		{"named", []*sources.Row{gone, named("0", "x")}, []string{"a/gone"}, headless.ErrNotFound},
		{"the only one that the URL names", []*sources.Row{gone}, nil, headless.ErrNotFound},
		{"among several", []*sources.Row{gone, named("0", "x")}, nil, nil},
		{"named among several", []*sources.Row{gone, named("0", "x")}, []string{"a/gone", "a/x"}, nil},
	} {
		var out, diag bytes.Buffer
		err := headless.Get(t.Context(), newScript(live(tt.rows...)), &out, &diag, headless.GetOptions{Names: tt.names})
		if !errors.Is(err, tt.err) || !strings.Contains(out.String(), "gone") || !strings.Contains(out.String(), "absent") {
			t.Errorf("%s: %v, want %v, and the row printed:\n%s", tt.what, err, tt.err, out.String())
		}
	}
}

func TestMessagesNameAPrimitiveAsItCanBeTyped(t *testing.T) {
	t.Parallel()
	for space, want := range map[string]string{"/local/app": "a/local/app/gone", "0": "a/0/gone", "": "a/gone"} {
		gone := named(space, "gone")
		gone.Absent, gone.At = true, time.Now()
		var out, diag bytes.Buffer
		for _, name := range []string{"a/gone", want, "a/" + space + "/gone"} {
			err := headless.Get(t.Context(), newScript(live(gone)), &out, &diag, headless.GetOptions{Names: []string{name}})
			if err == nil || !strings.HasPrefix(err.Error(), want+": not found: the server has none") {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
}

func TestANameIsNotMissingWhereItsSourceWasNotRead(t *testing.T) {
	t.Parallel()
	state := live(named("0", "x"))
	state.Sources = append(state.Sources, sources.SourceStatus{Name: "down", Err: errors.New("nothing listens")})
	var out, diag bytes.Buffer
	err := headless.Get(t.Context(), newScript(state), &out, &diag, headless.GetOptions{Names: []string{"down/x", "a/y"}})
	if !errors.Is(err, headless.ErrNoAnswer) || strings.Contains(err.Error(), "name 1") || strings.Contains(err.Error(), "down/x") {
		t.Errorf("%v, want that down did not answer, and not that it lacks x", err)
	}
	if !errors.Is(err, headless.ErrNotFound) || !strings.Contains(err.Error(), "did you mean a/x?") {
		t.Errorf("%v, want that a has no y", err)
	}
	synctest.Test(t, func(t *testing.T) {
		var diag bytes.Buffer
		feed := newScript(state, sources.Event{Kind: sources.EventSynced, Ref: sources.Ref{Source: "a"}})
		watch(t, feed, headless.WatchOptions{Names: []string{"down/x", "a/y"}, Diag: &diag})
		if got := diag.String(); !strings.HasPrefix(got, "a/y: no primitive") || strings.Contains(got, "down") {
			t.Errorf("watch said %s", got)
		}
	})
}

func TestASourceAloneIsAllOfIt(t *testing.T) {
	t.Parallel()
	var out, diag bytes.Buffer
	state := live(named("0", "x"), named("0", "y"))
	other := *named("0", "elsewhere").Primitive
	other.Ref.Source = "b"
	state.Rows = append(state.Rows, &sources.Row{Primitive: &other})
	if err := headless.Get(t.Context(), newScript(state), &out, &diag, headless.GetOptions{Names: []string{"a"}}); err != nil {
		t.Error(err)
	}
	if got := out.String(); !strings.Contains(got, " x ") || !strings.Contains(got, " y ") || strings.Contains(got, "elsewhere") {
		t.Errorf("printed\n%s", got)
	}
	if err := headless.Get(t.Context(), newScript(live()), &out, &diag, headless.GetOptions{Names: []string{"a"}}); err != nil {
		t.Errorf("a source without a row: %v", err)
	}
}

func TestWatchSaysOnceThatNothingBearsAName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		guessed := aliased("21:4", "guess")
		guessed.AliasHow = sources.Inferred
		feed := newScript(live(guessed, aliased("17:4", "compactor"), named("0", "x")), sources.Event{Kind: sources.EventSynced, Ref: sources.Ref{Source: "a"}})
		var diag bytes.Buffer
		names := []string{"a", "a/x", "a/compactor", "a/compacter", "a/hunter2hunter2"}
		watch(t, feed, headless.WatchOptions{Names: names, Diag: &diag})
		want := "a/compacter: no primitive goes by this name yet: did you mean a/compactor? (its lines come as soon as one does)\n" +
			"name 5 (a/...): no primitive goes by this name yet (its lines come as soon as one does)\n"
		if got := diag.String(); got != want {
			t.Errorf("said\n%swant\n%s", got, want)
		}
	})
}
