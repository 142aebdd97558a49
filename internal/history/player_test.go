package history_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/sources"
)

// at is an instant of the hour, on a clock that nobody puts forward.
func at(d time.Duration) time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d) }

// hour is the recorded hour, recorded once.
func hour(t *testing.T) *historytest.Log {
	t.Helper()
	recording.Do(func() {
		synctest.Test(t, func(t *testing.T) { recorded = historytest.Hour(t, nil, nil) })
	})
	return recorded
}

var (
	recording sync.Once
	recorded  *historytest.Log
)

// play runs a test of a Player in a bubble.
func play(t *testing.T, log history.Log, test func(t *testing.T, p *history.Player)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		reader, _ := log.(history.EventReader)
		p := history.NewPlayer(t.Context(), log, reader)
		defer p.Close()
		test(t, p)
	})
}

// leader is who leads a row; "": nobody.
func leader(p *history.Player, ref sources.Ref) string {
	row := p.Row(p.State(), ref)
	if row == nil || len(row.Owners) == 0 {
		return ""
	}
	return row.Owners[0].ID
}

func TestAPlayerShowsTheStateOfAnInstant(t *testing.T) {
	t.Parallel()
	log := hour(t)
	play(t, log, func(t *testing.T, p *history.Player) {
		for _, c := range []struct {
			at     time.Duration
			leader string
		}{
			{5 * time.Minute, "host-1"},
			{10*time.Minute + 299*time.Millisecond, ""},
			{10*time.Minute + 300*time.Millisecond, "host-2"},
			{10*time.Minute + 2*time.Second + 100*time.Millisecond, "host-1"},
			{10*time.Minute + 3*time.Second, ""},
			{59 * time.Minute, "host-3"},
			{time.Minute, "host-1"},
		} {
			p.Seek(at(c.at))
			synctest.Wait()
			if pos := p.Position(); !pos.At.Equal(at(c.at)) || pos.Moving || pos.Err != nil || !p.Now().Equal(pos.At) {
				t.Errorf("at %v: %+v", c.at, pos)
			}
			if got := leader(p, historytest.Billing()); got != c.leader {
				t.Errorf("at %v %q leads, want %q", c.at, got, c.leader)
			}
		}
	})
}

func TestAPlayerSkipsWhatNobodyRecorded(t *testing.T) {
	t.Parallel()
	log := hour(t)
	play(t, log, func(t *testing.T, p *history.Player) {
		p.Seek(at(historytest.Stopped + historytest.Step + 30*time.Second))
		synctest.Wait()
		pos := p.Position()
		ended := at(historytest.Stopped + historytest.Step)
		if began := at(historytest.Started + historytest.Step); !pos.At.Equal(ended.Add(30*time.Second)) || pos.Run != 1 || len(p.State().Rows) == 0 ||
			pos.Hole.From.Sub(ended).Abs() > 2*time.Second || pos.Hole.To.Sub(began).Abs() > 2*time.Second || !pos.InHole() || !p.Now().Equal(pos.Hole.From) || !p.Row(p.State(), historytest.Billing()).Fresh(p.State()) {
			t.Errorf("a seek into the hole: %+v", pos)
		}
		p.Seek(at(historytest.Stopped + historytest.Step + 45*time.Second))
		synctest.Wait()
		behind := at(historytest.Started + historytest.Step + 10*time.Second)
		p.Seek(behind) // less than a minute away
		synctest.Wait()
		if pos = p.Position(); !pos.At.Equal(behind) || pos.Run != 2 || pos.InHole() || pos.Err != nil {
			t.Errorf("a seek over the hole: %+v", pos)
		}
		p.Seek(at(historytest.Stopped + historytest.Step + 30*time.Second))
		synctest.Wait()
		p.Step(+1)
		synctest.Wait()
		if pos = p.Position(); pos.Run != 2 || pos.InHole() {
			t.Errorf("a step out of the hole: %+v", pos)
		}
		p.Seek(at(historytest.Stopped + historytest.Step - 2*time.Second))
		p.Play(true)
		for range 4 {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		pos = p.Position()
		if hole := pos.Hole.To.Sub(pos.Hole.From); pos.Run != 2 || hole < 89*time.Second || hole > 92*time.Second || !pos.Playing {
			t.Errorf("played over the hole of %v: %+v", hole, pos)
		}
		p.Step(-1)
		synctest.Wait()
		for range 20 {
			if pos = p.Position(); pos.Run == 1 {
				break
			}
			p.Step(-1)
			synctest.Wait()
		}
		if pos.Run != 1 || pos.Playing || pos.Hole == (history.Hole{}) {
			t.Errorf("stepped back over the hole: %+v", pos)
		}
		p.Seek(at(9 * time.Hour))
		synctest.Wait()
		if pos = p.Position(); !pos.End || pos.Err != nil || pos.Run != 2 || pos.Playing {
			t.Errorf("a seek behind the end: %+v", pos)
		}
		p.Seek(at(-time.Hour))
		synctest.Wait()
		if pos = p.Position(); pos.Run != 1 || pos.At.Before(at(0)) || pos.At.After(at(time.Second)) {
			t.Errorf("a seek before the beginning: %+v", pos)
		}
		p.Step(-1)
		synctest.Wait()
		p.Step(-1)
		synctest.Wait()
		if pos = p.Position(); pos.Err == nil {
			t.Errorf("nothing says that the recording begins here: %+v", pos)
		}
	})
}

func TestAPlayerPlaysAtItsSpeed(t *testing.T) {
	t.Parallel()
	log := hour(t)
	play(t, log, func(t *testing.T, p *history.Player) {
		p.Seek(at(5 * time.Minute))
		synctest.Wait()
		from := time.Now()
		check := func(want time.Duration) {
			t.Helper()
			synctest.Wait()
			if got := p.Position().At; !got.Equal(at(want)) {
				t.Errorf("after %v it is %v, want %v", time.Since(from), got.Sub(at(0)), want)
			}
		}
		time.Sleep(3 * time.Second)
		check(5 * time.Minute) // it is paused
		p.Play(true)
		synctest.Wait()
		time.Sleep(2 * time.Second)
		check(5*time.Minute + 2*time.Second)
		p.Faster(+3)
		synctest.Wait()
		time.Sleep(3 * time.Second)
		check(5*time.Minute + 32*time.Second)
		p.Play(false)
		time.Sleep(time.Hour)
		check(5*time.Minute + 32*time.Second)
		p.Faster(-100)
		p.Faster(+100)
		if got := p.Position().Speed; got != 3600 {
			t.Errorf("the highest speed is %d", got)
		}
		p.SetSpeed(60)
		if got := p.Position().Speed; got != 60 {
			t.Errorf("the speed is %d, want 60", got)
		}
		p.Faster(-1)
		if got := p.Position().Speed; got != 30 {
			t.Errorf("the speed below 60 is %d", got)
		}
	})
}

func TestAPlayerPlaysOnWhereTheClockWasSet(t *testing.T) {
	t.Parallel()
	log := hour(t)
	play(t, log, func(t *testing.T, p *history.Player) {
		p.Seek(at(historytest.StepAt - 2*time.Second))
		p.Play(true)
		synctest.Wait()
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if got, want := p.Now(), at(historytest.StepAt+historytest.Step+4*time.Second); got.Sub(want).Abs() > time.Second {
			t.Errorf("it shows %v, want %v", got, want)
		}
	})
}

func TestAPlayerStepsByEvents(t *testing.T) {
	t.Parallel()
	log := hour(t)
	play(t, log, func(t *testing.T, p *history.Player) {
		p.Seek(at(9 * time.Minute))
		synctest.Wait()
		steps := []time.Duration{10 * time.Minute, 10*time.Minute + 300*time.Millisecond, 10*time.Minute + 2*time.Second,
			10*time.Minute + 2500*time.Millisecond, 10*time.Minute + 4001*time.Millisecond}
		check := func(n int, want time.Duration) {
			t.Helper()
			p.Step(n)
			synctest.Wait()
			if got := p.Now(); got.Sub(at(want)).Abs() > 100*time.Millisecond || p.Position().Err != nil { // a publish may wait for its step
				t.Errorf("step %d goes to %v, want %v (%v)", n, got.Sub(at(0)), want, p.Position().Err)
			}
		}
		for _, want := range steps {
			check(+1, want)
		}
		for i := len(steps) - 2; i >= 0; i-- {
			check(-1, steps[i])
		}
		check(+2, steps[2])
	})
}

func TestACutBeginsTheEventsAnew(t *testing.T) {
	t.Parallel()
	log := hour(t)
	play(t, log, func(t *testing.T, p *history.Player) {
		all := func() (n int, last time.Time) {
			events, missed := p.Events(0)
			if missed > 0 {
				t.Errorf("%d events are missed", missed)
			}
			for i := range events {
				n, last = n+1, events[i].At
			}
			return n, last
		}
		p.Seek(at(11 * time.Minute))
		synctest.Wait()
		cuts := p.Position().Cuts
		many, last := all()
		if last.After(at(11 * time.Minute)) {
			t.Errorf("an event of %v is shown before it happened", last)
		}
		p.Seek(at(11*time.Minute + 30*time.Second))
		synctest.Wait()
		if n, _ := all(); n == 0 || n >= many || p.Position().Cuts != cuts {
			t.Errorf("forward there are %d events and %d cuts, after %d and %d", n, p.Position().Cuts, many, cuts)
		}
		p.Seek(at(11 * time.Minute))
		synctest.Wait()
		if n, _ := all(); n != many || p.Position().Cuts == cuts {
			t.Errorf("back there are %d events and %d cuts, after %d and %d", n, p.Position().Cuts, many, cuts)
		}
	})
}

// stuck is a Log of which a reading does not end before its context.
type stuck struct {
	history.Log
	entered chan struct{}
	first   sync.Once
}

func (s *stuck) Cursor(ctx context.Context, run int64, at time.Time) (c history.Cursor, err error) {
	blocked := false
	s.first.Do(func() {
		blocked = true
		close(s.entered)
		<-ctx.Done()
	})
	if blocked {
		return nil, ctx.Err()
	}
	return s.Log.Cursor(ctx, run, at)
}

func TestNothingWaitsForADiskAndANewSeekEndsTheOld(t *testing.T) {
	t.Parallel()
	log := hour(t)
	synctest.Test(t, func(t *testing.T) {
		s := &stuck{Log: log, entered: make(chan struct{})}
		p := history.NewPlayer(t.Context(), s, nil)
		defer p.Close()
		p.Seek(at(time.Minute))
		<-s.entered
		if pos := p.Position(); !pos.Moving || p.State() == nil {
			t.Errorf("on its way it says %+v", pos)
		}
		p.Seek(at(2 * time.Minute))
		synctest.Wait()
		if pos := p.Position(); pos.Moving || !pos.At.Equal(at(2*time.Minute)) || pos.Err != nil {
			t.Errorf("after the second seek: %+v", pos)
		}
	})
}

func TestAnEmptyRecordingSaysSo(t *testing.T) {
	t.Parallel()
	play(t, &historytest.Log{}, func(t *testing.T, p *history.Player) {
		p.Seek(at(0))
		synctest.Wait()
		if pos := p.Position(); !errors.Is(pos.Err, history.ErrNothing) || pos.Moving {
			t.Errorf("it says %+v", pos)
		}
	})
}
