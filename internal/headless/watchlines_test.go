package headless_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
)

// watch runs Watch until everything told before is written, and returns it.
func watch(t *testing.T, feed *script, o headless.WatchOptions) string {
	t.Helper()
	o.Zone = time.UTC
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	done := make(chan error)
	go func() { done <- headless.Watch(ctx, feed, &out, o) }()
	synctest.Wait()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("watch: %v", err)
	}
	return out.String()
}

func TestWatchPrintsTheDocumentedLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		got := watch(t, newScript(live(), allEvents(time.Now())...), headless.WatchOptions{Format: headless.JSON})
		golden(t, "watch.jsonl", []byte(got))
		safe(t, got)
		for line := range strings.Lines(got) {
			if !json.Valid([]byte(line)) {
				t.Errorf("not JSON: %s", line)
			}
		}
	})
}

func TestWatchPrintsALineAChangeForPeople(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events := allEvents(time.Now())
		got := watch(t, newScript(live(), events...), headless.WatchOptions{})
		golden(t, "watch.txt", []byte(got))
		safe(t, got)
		if n := strings.Count(got, "\n"); n != len(events) {
			t.Errorf("%d lines for %d events", n, len(events))
		}
	})
}

// lines counts the lines of every Write.
type lines struct{ writes []string }

func (l *lines) Write(b []byte) (int, error) {
	l.writes = append(l.writes, string(b))
	return len(b), nil
}

func TestEveryChangeIsWrittenAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed := newScript(live())
		var out lines
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- headless.Watch(ctx, feed, &out, headless.WatchOptions{Format: headless.JSON}) }()
		start := time.Now()
		for i := range 5 {
			synctest.Wait()
			if len(out.writes) != i {
				t.Fatalf("%d writes after %d events", len(out.writes), i)
			}
			feed.tell(nil, sources.Event{Kind: sources.EventAcquired, Ref: sources.Ref{Source: "a", Name: fmt.Sprint(i)}})
		}
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if !time.Now().Equal(start) {
			t.Errorf("a line waited: %v went by", time.Since(start))
		}
		for i, w := range out.writes {
			if !strings.Contains(w, fmt.Sprintf(`"seq":%d,`, i+1)) || strings.Count(w, "\n") != 1 {
				t.Errorf("write %d is %q", i, w)
			}
		}
	})
}

func TestABurstIsWrittenWholeAndInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var events []sources.Event
		for range 1000 {
			events = append(events, sources.Event{Kind: sources.EventRenewed, Ref: sources.Ref{Source: "a", Name: "x"}})
		}
		got := watch(t, newScript(live(), events...), headless.WatchOptions{Format: headless.JSON})
		next := 1
		for line := range strings.Lines(got) {
			if !strings.HasPrefix(line, fmt.Sprintf(`{"v":1,"seq":%d,`, next)) {
				t.Fatalf("line %d is %s", next, line)
			}
			next++
		}
		if next != 1001 {
			t.Errorf("%d lines", next-1)
		}
	})
}

func TestAReaderThatFellBehindIsToldAndStartsFromTheState(t *testing.T) {
	t.Parallel()
	for _, f := range []headless.Format{headless.Text, headless.JSON} {
		synctest.Test(t, func(t *testing.T) {
			var events []sources.Event
			for range 10 {
				events = append(events, sources.Event{At: time.Now(), How: sources.Told, Kind: sources.EventRenewed, Ref: sources.Ref{Source: "a", Name: "x"}})
			}
			owned := named("0", "x")
			owned.Owners = []sources.Owner{{ID: "me", Label: "me"}}
			untold := named("0", "z")
			untold.OwnersHow = sources.Unknown
			untold.Note = "a list, not a string"
			gone := named("0", "w")
			gone.Absent, gone.Note = true, "there is no semaphore of this name"
			s := live(owned, named("0", "y"), untold, gone)
			s.LastSeq = 9
			feed := newScript(s, events...)
			feed.kept = 4
			got := watch(t, feed, headless.WatchOptions{Format: f})
			golden(t, map[headless.Format]string{headless.Text: "missed.txt", headless.JSON: "missed.jsonl"}[f], []byte(got))
		})
	}
}

func TestWatchPrintsOnlyTheNamesAskedForAndTheHealthOfSources(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		got := watch(t, newScript(live(),
			sources.Event{Kind: sources.EventAcquired, Ref: sources.Ref{Source: "a", Space: "0", Name: "x"}},
			sources.Event{Kind: sources.EventAcquired, Ref: sources.Ref{Source: "a", Space: "0", Name: "y"}},
			sources.Event{Kind: sources.EventSourceDown, Ref: sources.Ref{Source: "a"}},
		), headless.WatchOptions{Format: headless.JSON, Names: []string{"a/x"}})
		if !strings.Contains(got, `"name":"x"`) || strings.Contains(got, `"name":"y"`) || !strings.Contains(got, "source_down") {
			t.Errorf("got %s", got)
		}
	})
}

// TestShapesAreTheDocumentedOnes keeps the keys of the two objects as they are: other
// people's programs read them.
func TestShapesAreTheDocumentedOnes(t *testing.T) {
	t.Parallel()
	doc := headless.JSONHelp("")
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		_ = headless.Get(t.Context(), newScript(everything(time.Now())), &out, &out, headless.GetOptions{Format: headless.JSON})
		one, _, _ := strings.Cut(watch(t, newScript(live(), allEvents(time.Now())...), headless.WatchOptions{Format: headless.JSON}), "\n")
		got := map[string][]string{}
		for name, text := range map[string]string{"get": out.String(), "event": one} {
			var v any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			shape(got, name, v)
		}
		for name, want := range map[string]string{
			"get":                           "at primitives sources v",
			"get.sources":                   "age_ms error health mode name sampling_ms scopes type warnings",
			"get.sources.scopes":            "age_ms health mode name role sampling_ms settings synced version",
			"get.primitives":                "alias before candidates candidates_known data ephemeral format free_since free_since_after free_since_known fresh kind limit name name_b64 namespace note owners owners_known problems queue source state taken",
			"get.primitives.problems":       "acknowledged fault sentence severity since since_after since_known",
			"get.primitives.alias":          "known text",
			"get.primitives.before":         "cause cause_known fence held_ms id label since since_after since_known until until_after",
			"get.primitives.before.held_ms": "max min",
			"get.primitives.owners":         "attrs data expires fence guard id label lease_ms mode permits session since since_after since_known",
			"get.primitives.owners.data":    "base64 cut len text",
			"get.primitives.queue":          "at known len waiters",
			"get.primitives.queue.waiters":  "attrs data guard id label mode order permits session since since_after since_known timeout_ms turn",
			"get.primitives.candidates":     "attrs data guard id label mode order permits session since since_after since_known timeout_ms turn",
			"event":                         "after alias at cause data detail event gap_ms held_ms kind known last last_seen name namespace owner previous scope seq source v",
			"event.owner":                   "data fence id label",
		} {
			if have := strings.Join(got[name], " "); have != want {
				t.Errorf("%s has the keys %s, want %s", name, have, want)
			}
			for _, key := range got[name] {
				if !strings.Contains(doc, key) {
					t.Errorf("the documentation does not explain %q of %s", key, name)
				}
			}
		}
	})
}

// shape collects the keys of every object, by the path to it.
func shape(into map[string][]string, path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			shape(into, path, item)
		}
	case map[string]any:
		for key, value := range v {
			if i, found := slices.BinarySearch(into[path], key); !found {
				into[path] = slices.Insert(into[path], i, key)
			}
			shape(into, path+"."+key, value)
		}
	}
}

func FuzzNamesSurviveJSON(f *testing.F) {
	f.Add("app:leader:x", []byte("data"), 4)
	f.Add(hostile, []byte("ab\xc3"), 9000)
	f.Add("\u2028\ufffd\U0001f600\U000e0001", []byte{}, 0)
	f.Fuzz(func(t *testing.T, name string, data []byte, length int) {
		if name == "" {
			return
		}
		row := named("0", name)
		row.Owners = []sources.Owner{{ID: name, Label: name, Data: sources.Blob{Head: string(data), Len: max(length, len(data))}}}
		var out bytes.Buffer
		if err := headless.Get(t.Context(), newScript(live(row)), &out, &out, headless.GetOptions{Format: headless.JSON}); err != nil {
			t.Fatal(err)
		}
		safe(t, out.String())
		var got struct {
			Primitives []struct {
				Name   string
				B64    *[]byte `json:"name_b64"`
				Owners []struct {
					Data *struct{ Text, Base64 *string }
				}
			}
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		p := got.Primitives[0]
		if p.B64 != nil && string(*p.B64) != name || p.B64 == nil && p.Name != name {
			t.Fatalf("the name %q comes out as %q", name, p.Name)
		}
		if d := p.Owners[0].Data; d != nil && len(data) > 0 && (d.Text == nil) == (d.Base64 == nil) {
			t.Fatalf("data is neither text nor base64: %s", out.String())
		}
	})
}

func TestEachLineSaysWhichScopeItIsAbout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := func(scope string) sources.Event {
			return sources.Event{Kind: sources.EventSourceDown, Ref: sources.Ref{Source: "quota"}, Scope: scope}
		}
		events := []sources.Event{down("/local/app"), down("/local/old"), down("")}
		var scopes []string
		for line := range strings.Lines(watch(t, newScript(live(), events...), headless.WatchOptions{Format: headless.JSON})) {
			var e struct{ Scope json.RawMessage }
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			scopes = append(scopes, string(e.Scope))
		}
		if !slices.Equal(scopes, []string{`"/local/app"`, `"/local/old"`, `null`}) {
			t.Errorf("%s", scopes)
		}
		text := watch(t, newScript(live(), events...), headless.WatchOptions{})
		if !strings.Contains(text, "quota /local/app") || !strings.Contains(text, "quota /local/old") {
			t.Errorf("%s", text)
		}
	})
}
