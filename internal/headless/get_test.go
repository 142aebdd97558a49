package headless_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"coordtop/internal/app/backends"
	"coordtop/internal/headless"
	"coordtop/sources"
)

func TestGetPrintsTheDocumentedObject(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out, diag bytes.Buffer
		err := headless.Get(t.Context(), newScript(everything(time.Now())), &out, &diag, headless.GetOptions{Format: headless.JSON})
		if !errors.Is(err, headless.ErrNoAnswer) {
			t.Errorf("got %v", err)
		}
		if diag.Len() > 0 {
			t.Errorf("JSON has it all, but the other stream got %q", diag.String())
		}
		golden(t, "get.json", indented(t, out.Bytes()))
	})
}

func TestGetPrintsATableForPeople(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out, diag bytes.Buffer
		err := headless.Get(t.Context(), newScript(everything(time.Now())), &out, &diag, headless.GetOptions{})
		want := "quota did not answer: /local/old: no answer for 60 s\ndark did not answer: connecting to dark: connection refused\\x1b[2J"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		golden(t, "get.txt", append(append(diag.Bytes(), "---\n"...), out.Bytes()...))
		safe(t, out.String()+diag.String())
	})
}

func TestAFirstLookGivesNoAgeThatItCannotKnow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := everything(time.Now())
		for _, row := range s.Rows {
			if row == nil {
				continue
			}
			for i := range row.Owners {
				row.Owners[i].Since = sources.Stamp{At: time.Now(), How: sources.AtLeast}
			}
		}
		var out, diag bytes.Buffer
		_ = headless.Get(t.Context(), newScript(s), &out, &diag, headless.GetOptions{}) // some sources do not answer
		if text := out.String(); strings.Contains(text, "≥") || !strings.Contains(text, "app:lock:endless") {
			t.Errorf("it prints\n%s", text)
		}
	})
}

// safe fails if a terminal would obey something in s.
func safe(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("bytes that are no text reach the terminal in %q", s)
	}
	for _, r := range s {
		if r != '\n' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Errorf("%q reaches the terminal in %q", r, s)
		}
	}
}

func TestJSONIsSafeOnATerminalAndLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		_ = headless.Get(t.Context(), newScript(everything(time.Now())), &out, &out, headless.GetOptions{Format: headless.JSON})
		safe(t, out.String())
		var got struct {
			Primitives []struct {
				Name    string
				NameB64 []byte `json:"name_b64"`
			}
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		const name = "app:lock:" + hostile
		for _, p := range got.Primitives {
			if string(p.NameB64) == name {
				if want := strings.ReplaceAll(name, "\xff", `\xff`); p.Name != want {
					t.Errorf("name %q, want %q", p.Name, want)
				}
				return
			}
		}
		t.Errorf("no primitive has the name in base64: %s", out.String())
	})
}

func TestJSONShowsWhatNobodyWouldSee(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		_ = headless.Get(t.Context(), newScript(live(named("0", "a\U000e0041\u3164\u034f😀"))), &out, &out, headless.GetOptions{Format: headless.JSON})
		if want := `"name":"a\udb40\udc41\u3164\u034f😀"`; !strings.Contains(out.String(), want) {
			t.Errorf("want %s in %s", want, out.String())
		}
	})
}

// live is a state of one source that has told everything.
func live(rows ...*sources.Row) *sources.State {
	return &sources.State{
		At: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), Rows: rows,
		Scopes:  []sources.Scope{{Source: "a", Health: sources.HealthLive, Synced: true}},
		Sources: []sources.SourceStatus{{Name: "a", Type: "redis", Address: "redis://a", Health: sources.HealthLive}},
	}
}

func named(space, name string) *sources.Row {
	return &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "a", Space: space, Name: name}, OwnersHow: sources.Told}}
}

func TestGetWaitsForWhatIsStillBeingListed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := live()
		begun.Scopes[0].Synced = false
		feed := newScript(&sources.State{})
		var out bytes.Buffer
		done := make(chan error)
		go func() { done <- headless.Get(t.Context(), feed, &out, &out, headless.GetOptions{}) }()
		synctest.Wait()
		feed.tell(begun)
		synctest.Wait()
		if out.Len() > 0 {
			t.Fatalf("printed before the listing was complete: %s", out.String())
		}
		feed.tell(live(named("0", "x")))
		if err := <-done; err != nil || !strings.Contains(out.String(), "x") {
			t.Errorf("got %v, %s", err, out.String())
		}
	})
}

func TestGetPrintsWhatArrivedWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*sources.State)
		want   error
		text   string
	}{
		"never heard from": {func(s *sources.State) { s.Sources[0].Health = sources.HealthConnecting }, headless.ErrNoAnswer, "a did not answer in time: check its address, redis://a, or give it longer with --timeout"},
		"still listing":    {func(s *sources.State) { s.Scopes[0].Synced = false }, headless.ErrIncomplete, "--timeout"},
		"no scope yet":     {func(s *sources.State) { s.Scopes, s.Rows = nil, nil }, headless.ErrIncomplete, "a did not finish"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := live(named("0", "x"))
				c.change(s)
				var out bytes.Buffer
				start := time.Now()
				err := headless.Get(t.Context(), newScript(s), &out, &out, headless.GetOptions{Timeout: 2 * time.Second, Format: headless.JSON})
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if took := time.Since(start); took != 2*time.Second {
					t.Errorf("took %v", took)
				}
				if len(s.Rows) > 0 && !strings.Contains(out.String(), `"name":"x"`) {
					t.Errorf("what arrived is not printed: %s", out.String())
				}
			})
		})
	}
}

func TestGetDoesNotWaitForASourceThatFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := live(named("0", "x"))
		s.Sources = append(s.Sources, sources.SourceStatus{Name: "b", Err: errRefused{}})
		start := time.Now()
		var out bytes.Buffer
		err := headless.Get(t.Context(), newScript(s), &out, &out, headless.GetOptions{})
		if !errors.Is(err, headless.ErrNoAnswer) || !time.Now().Equal(start) || !strings.Contains(out.String(), "x") {
			t.Errorf("got %v after %v, %s", err, time.Since(start), out.String())
		}
	})
}

func TestGetOfOnlyASpaceThatDoesNotExistFindsNothing(t *testing.T) {
	t.Parallel()
	o := headless.GetOptions{Select: func(string) string { return "?keys=" }}
	s := live()
	s.Scopes[0].Name, s.Scopes[0].About.Absent = "/local/app", true
	var out, diag bytes.Buffer
	err := headless.Get(t.Context(), newScript(s), &out, &diag, o)
	if !errors.Is(err, headless.ErrNotFound) || !strings.HasPrefix(err.Error(), "a/local/app: not found") || strings.Contains(diag.String(), "?keys=") {
		t.Errorf("got %v, %q", err, diag.String())
	}
	s.Scopes = append(s.Scopes, sources.Scope{Source: "a", Name: "/local/other", Health: sources.HealthLive, Synced: true})
	if err := headless.Get(t.Context(), newScript(s), &out, &diag, o); err != nil {
		t.Errorf("got %v where another space exists", err)
	}
}

func TestAnEmptyTableIsExplainedOnce(t *testing.T) {
	t.Parallel()
	var out, diag bytes.Buffer
	o := headless.GetOptions{Select: func(typ string) string { return "?keys=of-" + typ }}
	if err := headless.Get(t.Context(), newScript(live()), &out, &diag, o); err != nil || out.Len() > 0 {
		t.Errorf("got %v, %q", err, out.String())
	}
	if !strings.Contains(diag.String(), "?keys=of-redis") {
		t.Errorf("nothing says what to do: %q", diag.String())
	}
	s := live()
	s.Sources[0].Err, s.Sources[0].Health = errRefused{}, sources.HealthStale
	diag.Reset()
	if err := headless.Get(t.Context(), newScript(s), &out, &diag, o); !errors.Is(err, headless.ErrNoAnswer) || diag.Len() > 0 {
		t.Errorf("got %v, and beside it %q", err, diag.String())
	}
}

func TestANameIsTextWithItsSpaceWhereThereAreSeveral(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			rows []*sources.Row
			want []string
		}{
			{[]*sources.Row{named("app", "17:4"), named("app", "4242")}, []string{"17:4", "4242"}},
			{[]*sources.Row{named("app", "4242"), named("ledger", "4242")}, []string{"app/4242", "ledger/4242"}},
		} {
			var out bytes.Buffer
			if err := headless.Get(t.Context(), newScript(live(c.rows...)), &out, &out, headless.GetOptions{}); err != nil {
				t.Fatal(err)
			}
			var events []sources.Event
			for _, r := range c.rows {
				events = append(events, sources.Event{Kind: sources.EventPresent, Ref: r.Ref})
			}
			lines := watch(t, newScript(live(), events...), headless.WatchOptions{})
			for i, want := range c.want {
				if line := strings.Split(out.String(), "\n")[i+1]; !slices.Contains(strings.Fields(line), want) {
					t.Errorf("get does not call it %s: %s", want, line)
				}
				if line := strings.Split(lines, "\n")[i]; !slices.Contains(strings.Fields(line), "a/"+want) {
					t.Errorf("watch does not call it a/%s: %s", want, line)
				}
			}
		}
	})
}

func TestAnEmptyTableNamesTheParameterOfEachBackend(t *testing.T) {
	t.Parallel()
	for types, want := range map[string]string{
		"redis": "as ?keys=app:lock:*\n", "postgres": "as ?locks=4242,17:-4\n", "ydb": "as ?node=/local/app&semaphore=NAME (&election=, &mutex=)\n",
		"postgres redis postgres": "as ?locks=4242,17:-4 or ?keys=app:lock:*\n",
	} {
		s := live()
		s.Sources, s.Scopes = nil, nil
		for i, typ := range strings.Fields(types) {
			name := string(rune('a' + i))
			s.Sources = append(s.Sources, sources.SourceStatus{Name: name, Type: typ, Health: sources.HealthLive})
			s.Scopes = append(s.Scopes, sources.Scope{Source: name, Health: sources.HealthLive, Synced: true})
		}
		var out, diag bytes.Buffer
		if err := headless.Get(t.Context(), newScript(s), &out, &diag, headless.GetOptions{Select: backends.Select}); err != nil || !strings.HasSuffix(diag.String(), want) {
			t.Errorf("%s: got %v, %q, want %q", types, err, diag.String(), want)
		}
	}
}

func TestANameThatIsNotThereIsSaidOnce(t *testing.T) {
	t.Parallel()
	var out, diag bytes.Buffer
	err := headless.Get(t.Context(), newScript(live(named("0", "x"))), &out, &diag, headless.GetOptions{Names: []string{"a/y"}})
	if !errors.Is(err, headless.ErrNotFound) || out.Len() > 0 || diag.Len() > 0 {
		t.Errorf("got %v, and beside it %q, %q", err, out.String(), diag.String())
	}
}

func TestASourceThatAnswersAndRefusesIsNotSaidToBeSilent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want error
		text string
	}{
		{&sources.Problem{Text: "wrong", Cause: errBroken, Refused: true, Login: true}, headless.ErrCredentials, "a refused our credentials: wrong"},
		{&sources.Problem{Text: "too old", Cause: errBroken, Refused: true}, headless.ErrRefused, "a cannot be watched: too old"},
		{&sources.Problem{Text: "away", Cause: errBroken}, headless.ErrNoAnswer, "a did not answer: away"},
	} {
		s := live()
		s.Sources[0].Err, s.Sources[0].Health = c.err, sources.HealthStale
		var out, diag bytes.Buffer
		err := headless.Get(t.Context(), newScript(s), &out, &diag, headless.GetOptions{})
		if !errors.Is(err, c.want) || err.Error() != c.text {
			t.Errorf("got %v, want %s", err, c.text)
		}
	}
}

func TestGetEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out bytes.Buffer
		if err := headless.Get(ctx, newScript(&sources.State{}), &out, &out, headless.GetOptions{}); !errors.Is(err, context.Canceled) || out.Len() > 0 {
			t.Errorf("got %v, %q", err, out.String())
		}
	})
}

func TestNamesSelectWholeTexts(t *testing.T) {
	t.Parallel()
	s := live(named("0", "x"), named("0", "x/y"), named("1", "x"), named("2", "2/z"), named("3", "z"))
	for name, want := range map[string]struct {
		prints string
		err    error
	}{
		"a/0/x": {`"x"`, nil},
		"a/x/y": {`"x/y"`, nil},
		"a/x":   {`"x" "x"`, headless.ErrAmbiguous},
		"a/2/z": {`"2/z"`, nil},
		"a/3/z": {`"z"`, nil},
		"a/q":   {"", headless.ErrNotFound},
		"b/x":   {"", headless.ErrNotFound},
		"x":     {"", headless.ErrNotFound},
	} {
		var out bytes.Buffer
		err := headless.Get(t.Context(), newScript(s), &out, &out, headless.GetOptions{Format: headless.JSON, Names: []string{name}})
		if !errors.Is(err, want.err) {
			t.Errorf("%s: got %v, want %v", name, err, want.err)
		}
		var got struct{ Primitives []struct{ Name string } }
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range got.Primitives {
			names = append(names, `"`+p.Name+`"`)
		}
		if strings.Join(names, " ") != want.prints {
			t.Errorf("%s: printed %v, want %s", name, names, want.prints)
		}
	}
	var out bytes.Buffer
	err := headless.Get(t.Context(), newScript(s), &out, &out, headless.GetOptions{Names: []string{"a/x"}})
	if err == nil || !strings.Contains(err.Error(), "a/0/x, a/1/x") {
		t.Errorf("the error does not name the candidates: %v", err)
	}
}

type broken struct{}

var errBroken = errors.New("broken pipe")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestAFailedWriteIsReturned(t *testing.T) {
	t.Parallel()
	for _, f := range []headless.Format{headless.Text, headless.JSON} {
		if err := headless.Get(t.Context(), newScript(live(named("0", "x"))), broken{}, broken{}, headless.GetOptions{Format: f}); !errors.Is(err, errBroken) {
			t.Errorf("get: %v", err)
		}
		feed := newScript(live(), sources.Event{Kind: sources.EventSynced, Ref: sources.Ref{Source: "a"}})
		if err := headless.Watch(t.Context(), feed, broken{}, headless.WatchOptions{Format: f}); !errors.Is(err, errBroken) {
			t.Errorf("watch: %v", err)
		}
	}
}
