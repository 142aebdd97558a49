package headless_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
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
	feed := newScript(live(aliased("17:4", "compactor"), aliased("18:4", "twin"), aliased("19:4", "twin"), aliased("20:4", "x"), named("0", "x")))
	for _, tt := range []struct {
		name, found string
		err         error
		says        string
	}{
		{"a/compactor", "17:4", nil, ""},
		{"a/17:4", "17:4", nil, ""},
		{"a/x", "x", nil, ""}, // its own name, and not what another one is called
		{"a/twin", "", headless.ErrAmbiguous, "a/0/18:4, a/0/19:4"},
		{"a/compacter", "", headless.ErrNotFound, "did you mean a/compactor?"},
		{"a/17:5", "", headless.ErrNotFound, "did you mean a/17:4?"},
		{"a/something else", "", headless.ErrNotFound, "no primitive goes by this name;"},
	} {
		row, err := headless.Find(t.Context(), feed, tt.name, "", time.Minute)
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
