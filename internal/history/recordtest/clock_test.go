package recordtest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// shifted is a clock that was set.
type shifted struct {
	sources.Clock
	by time.Duration
}

func (c shifted) Now() sources.Instant {
	now := c.Clock.Now()
	now.Wall = now.Wall.Add(c.by)
	return now
}

// led records a leader for so long, on a clock that is set.
func led(t *testing.T, r *Recorder, by, length time.Duration, who string) {
	t.Helper()
	o, err := r.Begin()
	if err != nil {
		t.Fatal(err)
	}
	o.Clock = shifted{sources.SystemClock(), by}
	hub := sources.NewHub(t.Context(), o)
	stop := r.Record(hub)
	s := sourcetest.NewScript()
	s.OnConnect(func() []sources.Change {
		now := sources.Wall().Add(by)
		return []sources.Change{{At: now, Relists: true, Synced: true, Alive: []string{""}, Set: []*sources.Primitive{{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindElection,
			Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, Taken: 1, At: now, Owners: []sources.Owner{{ID: who}}}}}}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- sources.Run(ctx, hub, []sources.Spec{{Name: "s", Type: "redis", Address: "a:1", Source: s}})
	}() // received below
	time.Sleep(length)
	cancel()
	if err := errors.Join(<-done, stop()); err != nil {
		t.Error(err)
	}
	hub.Close()
}

// TestAClockThatIsPutBackBetweenTwoRunsLosesNothing has a leader in each of three runs, the second of which
// begins half an hour before the first one and ends within it.
func TestAClockThatIsPutBackBetweenTwoRunsLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	synctest.Test(t, func(t *testing.T) {
		r := &Recorder{Path: path}
		began := time.Now()
		led(t, r, 0, 20*time.Minute, "first")
		led(t, r, -50*time.Minute, 40*time.Minute, "second") // 23:30 to 00:10
		led(t, r, 0, 10*time.Minute, "third")
		store := sqlite.NewReader(path)
		runs, err := store.Runs(t.Context())
		if err != nil || len(runs) != 3 || runs[1].From.Sub(began) != -30*time.Minute {
			t.Fatalf("runs %+v, %v", runs, err)
		}
		p := history.NewPlayer(t.Context(), store, store)
		for _, at := range []struct {
			minute int
			run    int64
		}{{-20, 2}, {5, 2}, {15, 1}, {65, 3}} { // of two runs the later one is shown
			p.Seek(began.Add(time.Duration(at.minute) * time.Minute))
			synctest.Wait()
			if pos := p.Position(); pos.Run != at.run || pos.Err != nil || !pos.At.Equal(began.Add(time.Duration(at.minute)*time.Minute)) {
				t.Errorf("minute %d shows %+v", at.minute, pos)
			}
		}
		p.Close()
		lanes, err := store.Lanes(t.Context(), nil, history.Span{From: began.Add(-time.Hour), To: began.Add(2 * time.Hour)})
		if err != nil || len(lanes) != 1 {
			t.Fatalf("%d lanes, %v", len(lanes), err)
		}
		early, err := store.Totals(t.Context(), history.Span{From: began.Add(-30 * time.Minute), To: began.Add(-20 * time.Minute)})
		if err != nil || len(early) != 1 {
			t.Errorf("of the time before the first run: %+v, %v", early, err)
		}
		if all := history.Bounds(runs, time.Now()); all.From.Sub(began) != -30*time.Minute || all.To.Sub(began) != 70*time.Minute {
			t.Errorf("all that is recorded is %v to %v", all.From, all.To)
		}
		var said []string
		for _, term := range lanes[0].Terms {
			said = append(said, fmt.Sprintf("%s %v to %v", term.Owner.ID, term.Start.At.Sub(began).Minutes(), term.End.At.Sub(began).Minutes()))
		}
		if want := []string{"second -30 to 60", "first 0 to 20", "third 60 to 70"}; !slices.Equal(said, want) { // nobody saw the second one end
			t.Errorf("terms %v, want %v", said, want)
		}
		_, sent := File(t, store)
		copied := sqlite.NewReader(sent)
		again, err := copied.Lanes(t.Context(), nil, history.Span{From: began.Add(-time.Hour), To: began.Add(2 * time.Hour)})
		if err = errors.Join(err, copied.Close()); err != nil || len(again) != 1 || len(again[0].Terms) != len(said) {
			t.Errorf("of what was exported: %+v, %v; want %d terms", again, err, len(said))
		}
		known := lanes[0].Known()
		if seen := known.Observed(history.Span{From: began.Add(-30 * time.Minute), To: began.Add(70 * time.Minute)}); seen != 50*time.Minute {
			t.Errorf("%v were observed: %v", seen, lanes[0].Dark)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestARunWithinALaterOneIsReached has the clock put back so far that the second run lasts from before the
// first one to after it.
func TestARunWithinALaterOneIsReached(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	synctest.Test(t, func(t *testing.T) {
		r := &Recorder{Path: path}
		led(t, r, 0, 2*time.Minute, "first")
		led(t, r, -5*time.Minute, 6*time.Minute, "second")
		store := sqlite.NewReader(path)
		copied, _ := File(t, store)
		for name, s := range map[string]*sqlite.Reader{"recorded": store, "exported": copied} {
			runs, err := s.Runs(t.Context())
			if err != nil || len(runs) != 2 {
				t.Fatalf("%s: runs %+v, %v", name, runs, err)
			}
			p := history.NewPlayer(t.Context(), s, s)
			p.Seek(runs[1].To)
			synctest.Wait()
			for n := 0; n < 10 && p.Position().Run == 2; n++ {
				p.Step(-1)
				synctest.Wait()
			}
			if pos := p.Position(); pos.Run != 1 || pos.Err != nil {
				t.Errorf("%s: back from the second run it shows %+v", name, pos)
			}
			p.Step(+1)
			synctest.Wait()
			if pos := p.Position(); pos.Run != 2 || pos.Err != nil {
				t.Errorf("%s: behind the first run it shows %+v", name, pos)
			}
			p.Close()
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}
