package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// lookFeed is a feed for headless.
type lookFeed struct{ st *sources.State }

func (f lookFeed) State() *sources.State            { return f.st }
func (f lookFeed) Subscribe(uint64) headless.Events { return noEvents{} }

type noEvents struct{}

func (noEvents) Wake() <-chan struct{}                { return nil }
func (noEvents) Events(int) ([]sources.Event, uint64) { return nil, 0 }
func (noEvents) Close()                               {}

// troubled is a State with rows that are, or become, a problem in all ways, and some that do not.
func troubled(now time.Time) *sources.State {
	ago := func(d time.Duration) sources.Stamp { return sources.Stamp{At: now.Add(-d), How: sources.Seen} }
	var prims []*sources.Primitive
	add := func(name string, kind sources.Kind, owner string, change func(p *sources.Primitive)) {
		p := uitest.Led(name, owner, now)
		if p.Kind = kind; owner == "" {
			p.Owners, p.Taken = nil, 0
		}
		if change != nil {
			change(p)
		}
		prims = append(prims, p)
	}
	const election, mutex, semaphore = sources.KindElection, sources.KindMutex, sources.KindSemaphore
	endless := func(p *sources.Primitive) { p.Owners[0].NoExpiry, p.Owners[0].Expires = true, sources.Stamp{} }
	waits := func(d time.Duration) sources.Queue {
		return sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "w", Since: ago(d)}}}
	}
	session := func(p *sources.Primitive) { endless(p); p.Owners[0].Session = "4711" }
	add("calm", election, "o", session)
	add("runs-out", election, "o", nil)
	add("handed-over", election, "", nil)
	add("expired", election, "", nil)
	add("never-led", election, "", nil)
	add("free", mutex, "", nil)
	add("expected", mutex, "", func(p *sources.Primitive) { p.Expected = true })
	add("absent-lock", mutex, "", func(p *sources.Primitive) { p.Absent = true })
	add("absent-election", election, "", func(p *sources.Primitive) { p.Absent = true })
	add("two", mutex, "o", func(p *sources.Primitive) {
		session(p)
		p.Owners = append(p.Owners, sources.Owner{ID: "p", Label: "p"})
	})
	add("endless", mutex, "o", endless)
	add("endless-guess", mutex, "o", func(p *sources.Primitive) { endless(p); p.LimitHow = sources.Inferred })
	add("endless-by-design", mutex, "o", func(p *sources.Primitive) {
		endless(p)
		p.Labels = []sources.Attr{sources.NoTTLLabel(), sources.FormatLabel("sidekiq-unique-jobs", sources.Told)}
	})
	add("endless-awaited", mutex, "?", func(p *sources.Primitive) {
		endless(p)
		p.Labels = []sources.Attr{sources.NoTTLLabel(), sources.FormatLabel("sidekiq-unique-jobs", sources.Told)}
		p.Queue = sources.Queue{How: sources.Told, Len: 2}
	})
	add("queue", mutex, "o", func(p *sources.Primitive) { session(p); p.Queue = waits(time.Second) })
	add("idle", semaphore, "o", func(p *sources.Primitive) {
		session(p)
		p.Owners[0].Idle, p.Queue = sources.IdleSession, waits(25*time.Second)
	})
	add("campaigned", election, "o", func(p *sources.Primitive) { session(p); p.Queue = waits(time.Hour) })
	add("unread", mutex, "", func(p *sources.Primitive) { p.At = time.Time{} })
	add("not-told", mutex, "", func(p *sources.Primitive) { p.OwnersHow = sources.Unknown })
	add("twice", mutex, "o", session)
	add("silent", election, "", nil)
	add("silent-calm", mutex, "o", session)
	add("twice", mutex, "p", session)
	st := uitest.State(now, prims...)
	for _, row := range st.Rows {
		cause := map[string]sources.Cause{"handed-over": sources.CauseReleased, "expired": sources.CauseExpired, "silent": sources.CauseExpired}[row.Name]
		if cause != sources.CauseUnknown {
			row.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: "o", Label: "o"}, Start: ago(time.Hour), End: row.Nobody, Cause: cause, How: sources.Told}}
		}
	}
	for i, name := range []string{"dead", "moved"} { // beside the first source
		st.Sources = append(st.Sources, sources.SourceStatus{Name: name, Type: "redis", Health: sources.HealthLive})
		st.Scopes = append(st.Scopes, sources.Scope{Source: name, Health: sources.HealthLive, Synced: true, Alive: now})
		for _, row := range st.Rows[len(prims)-3+2*i : len(prims)-1+i] {
			row.Scope, row.Source = i+1, name
		}
	}
	st.Sources[0].Agree, st.Sources[2].Agree = 1, 1
	st.Sources[1].Health, st.Sources[1].Err, st.Scopes[1].Health = sources.HealthStale, errors.New("no answer"), sources.HealthStale
	return st
}

// TestTheBoardGetAndItsJSONHaveOneVerdict lets time pass over rows in all states and compares, of each
// row, its mark on the board, what get fails on, and what stands in the JSON.
func TestTheBoardGetAndItsJSONHaveOneVerdict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := troubled(time.Now())
		d := drive(newTestFeed(st), Options{Width: 160, Height: 60})
		seen := verdict.Faults(0)
		for _, wait := range []time.Duration{0, 3 * time.Second, 2 * time.Second, 6 * time.Second, 5 * time.Second, 20 * time.Second, 11 * time.Minute} {
			time.Sleep(wait)
			st.Scopes[0].Alive, st.Scopes[2].Alive = time.Now(), time.Now()
			d.feed.Pass(wait)
			d.send(terminal.SecondMsg{})
			frame, problems := d.lines(), 0
			var printed bytes.Buffer
			_ = headless.Get(t.Context(), lookFeed{st}, &printed, io.Discard, headless.GetOptions{Format: headless.JSON})
			var got struct {
				Primitives []struct {
					Source, Name string
					Problems     []struct{ Fault, Severity string }
				}
			}
			if err := json.Unmarshal(printed.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			fails := map[string]bool{}
			for _, fault := range verdict.Names() {
				err := headless.Get(t.Context(), lookFeed{st}, io.Discard, io.Discard, headless.GetOptions{FailOn: 1 << verdict.Named(fault)})
				for line := range strings.Lines(fmt.Sprint(err)) {
					if what, found := strings.CutPrefix(line, "failed on "); found {
						part := strings.SplitN(what, ": ", 3)
						fails[part[0]+" "+part[1]] = true
					}
				}
			}
			for _, p := range got.Primitives {
				mark := ""
				for _, wrong := range p.Problems {
					seen |= 1 << verdict.Named(wrong.Fault)
					if where := wrong.Fault + " " + p.Source + "/0/" + p.Name; !fails[where] {
						t.Errorf("the JSON has %s, get does not fail on it", where)
					} else {
						delete(fails, where)
					}
					switch {
					case wrong.Severity == verdict.Bad.String():
						mark = "!"
					case wrong.Severity == verdict.Warn.String() && mark == "":
						mark = "▲"
					}
				}
				if mark != "" {
					problems++
				}
				if p.Source == "dead" {
					mark = "?" // the board shows what is known now
				}
				if line := lineOf(frame, p.Source, p.Name); !strings.HasPrefix(line, " "+mark) || mark == "" && strings.ContainsAny(line[:3], "!▲") {
					t.Errorf("%s/%s has %v: %q", p.Source, p.Name, p.Problems, line)
				}
			}
			delete(fails, "stale dead") // of the source
			if len(fails) > 0 {
				t.Errorf("get fails on %v, which the JSON has not", fails)
			}
			if want := fmt.Sprintf("%d problems", problems); !strings.Contains(frame[0], want) {
				t.Errorf("want %s: %s", want, frame[0])
			}
		}
		if all := verdict.Any &^ (1<<verdict.Full | 1<<verdict.Flapping); seen != all { // a Hub has to see those
			t.Errorf("%b was seen, not %b", seen, all)
		}
	})
}

// lineOf is the line of a row in a frame.
func lineOf(frame []string, source, name string) string {
	for _, line := range frame {
		if words := strings.Fields(line); len(words) > 3 && strings.HasSuffix(words[1], name) && words[2] == source {
			return line
		}
	}
	return strings.Repeat(" ", 3) + "(no line)"
}
