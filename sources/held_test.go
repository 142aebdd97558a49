package sources_test

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
)

func TestAnEndTellsHowLongItWasOwnedAtLeast(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", bound("a"))) // it may have owned it for days
		time.Sleep(8 * time.Second)
		w.set(election("app"))
		e := w.last(sources.EventReleased)
		if want := (sources.Interval{Min: 8 * time.Second, Max: sources.Endless}); e.Held != want {
			t.Errorf("the end tells that it was owned for %v, want %v", e.Held, want)
		}
		if got := w.row("app").Terms[0].Held(); got != e.Held {
			t.Errorf("the term tells %v, its end %v", got, e.Held)
		}
		w.set(election("app", bound("b")))
		time.Sleep(3 * time.Second)
		w.set(election("app", bound("c")))
		if e, want := w.last(sources.EventOwnerChanged), (sources.Interval{Min: 3 * time.Second, Max: 3 * time.Second}); e.Held != want {
			t.Errorf("the change tells that it was owned for %v, want %v", e.Held, want)
		}
		time.Sleep(2 * time.Second)
		w.tell(sources.Change{Gone: []sources.Ref{election("app").Ref}})
		if e, want := w.last(sources.EventReleased), (sources.Interval{Min: 2 * time.Second, Max: 2 * time.Second}); e.Held != want {
			t.Errorf("the end of a row that is gone tells that it was owned for %v, want %v", e.Held, want)
		}
	})
}

func TestLengthsOfTermsKeepHowTheirStartIsKnown(t *testing.T) {
	t.Parallel()
	start := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	after := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	end := sources.StampBetween(after(9), after(10), sources.Seen)
	for _, c := range []struct {
		name  string
		start sources.Stamp
		want  sources.Interval
	}{
		{"told", sources.Stamp{At: start, How: sources.Told}, sources.Interval{Min: 9 * time.Second, Max: 10 * time.Second}},
		{"seen", sources.StampBetween(after(-1), start, sources.Seen), sources.Interval{Min: 9 * time.Second, Max: 11 * time.Second}},
		{"at least", sources.Stamp{At: start, How: sources.AtLeast}, sources.Interval{Min: 9 * time.Second, Max: sources.Endless}},
		{"bound", sources.Stamp{At: start, How: sources.Bound}, sources.Interval{Max: 10 * time.Second}},
		{"claimed", sources.Stamp{At: start, How: sources.Claimed}, sources.Interval{}},
		{"unknown", sources.Stamp{At: start}, sources.Interval{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			term := sources.Term{Start: c.start, End: end}
			if got := term.Held(); got != c.want {
				t.Errorf("held for %v, want %v", got, c.want)
			}
		})
	}
	if running := (&sources.Term{Start: sources.Stamp{At: start, How: sources.Told}}); running.Held() != (sources.Interval{}) {
		t.Error("a term that runs has a length")
	}
}

func TestAnEndOfSharedPermitsTellsHowLongTheyWereOwned(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		quota := func(owners ...sources.Owner) *sources.Primitive {
			p := election("quota", owners...)
			p.Kind, p.Limit, p.LimitHow, p.Taken = sources.KindSemaphore, 3, sources.Told, uint64(len(owners))
			return p
		}
		w.list(quota())
		w.set(quota(bound("a")))
		time.Sleep(2 * time.Second)
		w.set(quota(bound("a"), bound("b")))
		synctest.Wait()
		time.Sleep(3 * time.Second)
		w.set(quota(bound("b")))
		if e, want := w.last(sources.EventReleased), (sources.Interval{Min: 5 * time.Second, Max: 5 * time.Second}); e.Held != want {
			t.Errorf("the end tells that it was owned for %v, want %v", e.Held, want)
		}
	})
}
