package history_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/sources"
)

// holed is a recording of which what lies before an instant of its second group is missing.
type holed struct{ *historytest.Log }

func (h holed) Cursor(ctx context.Context, run int64, at time.Time) (history.Cursor, error) {
	before, err := h.Log.Cursor(ctx, run, sources.Earlier(at, missingFrom()))
	if err != nil || at.After(missingTo()) {
		return before, err
	}
	behind, err := h.Log.Cursor(ctx, run, missingTo())
	return &holedCursor{before: before, behind: behind}, err
}

func missingFrom() time.Time { return at(24 * time.Minute) }
func missingTo() time.Time   { return at(26 * time.Minute) }

type holedCursor struct{ before, behind history.Cursor }

func (c *holedCursor) Next(ctx context.Context) (history.Piece, error) {
	if c.before == nil {
		return c.behind.Next(ctx)
	}
	p, err := c.before.Next(ctx)
	for i := range p.Inputs {
		if p.Inputs[i].At.Wall.After(missingFrom()) {
			p.Inputs = p.Inputs[:i]
			break
		}
	}
	if err == nil && p.Empty() {
		c.before = nil
		p, err = c.behind.Next(ctx)
		p.Hole = true
	}
	return p, err
}

func TestAPlayerShowsInAHoleOfARunWhatWasKnownBefore(t *testing.T) {
	t.Parallel()
	log := &historytest.Log{Group: 20}
	synctest.Test(t, func(t *testing.T) { historytest.Recorded(t, log, nil, nil) })
	synctest.Test(t, func(t *testing.T) {
		p := history.NewPlayer(t.Context(), holed{log}, log)
		defer p.Close()
		for _, jump := range []time.Duration{23 * time.Minute, 25 * time.Minute, 25*time.Minute + time.Second} { // past a keyframe, and on from there
			p.Seek(at(jump))
			synctest.Wait()
			pos := p.Position()
			if hole := jump > 24*time.Minute; !pos.At.Equal(at(jump)) || pos.InHole() != hole || pos.Err != nil ||
				hole && (missingFrom().Sub(pos.Hole.From) > 10*time.Second || pos.Hole.To.After(missingTo()) || !p.Now().Equal(pos.Hole.From)) {
				t.Errorf("at %v: %+v, now is %v", jump, pos, p.Now())
			}
		}
		p.Step(+1)
		synctest.Wait()
		if pos := p.Position(); pos.InHole() || pos.Hole == (history.Hole{}) || pos.At.Before(pos.Hole.To) {
			t.Errorf("a step goes to %+v", pos)
		}
		p.Seek(at(25 * time.Minute))
		p.Play(true)
		time.Sleep(time.Second)
		synctest.Wait()
		if pos := p.Position(); pos.InHole() || pos.At.Before(pos.Hole.To) {
			t.Errorf("played, it stays in the hole: %+v", pos)
		}
	})
}

// TestAPlayerKnowsWhatCameLater goes to the first second of an outage, which is noticed after three.
func TestAPlayerKnowsWhatCameLater(t *testing.T) {
	t.Parallel()
	play(t, hour(t), func(t *testing.T, p *history.Player) {
		health := func() sources.Health {
			s := p.State()
			for i := range s.Scopes {
				if s.Scopes[i].Source == historytest.Leases {
					return s.Scopes[i].Health
				}
			}
			return sources.HealthConnecting
		}
		stale := func() bool { return !p.Row(p.State(), historytest.Billing()).Fresh(p.State()) }
		for _, c := range []struct {
			at           time.Duration
			known, later bool
		}{{historytest.Silent - time.Second, true, true}, {historytest.Silent + time.Second, true, false}, {historytest.Silent + 5*time.Second, false, false},
			{historytest.Answers + time.Minute, true, true}} {
			p.Seek(at(c.at))
			synctest.Wait()
			for _, believed := range []bool{false, true, false} {
				p.Believe(believed)
				want := sources.HealthStale
				if c.later || believed && c.known {
					want = sources.HealthLive
				}
				if got := health(); got != want || stale() != (want == sources.HealthStale) || p.Position().Believed != believed {
					t.Errorf("at %v, believed then: %t: the source is %v, the row stale: %t", c.at, believed, got, stale())
				}
			}
		}
		p.Seek(at(historytest.Silent - time.Second))
		synctest.Wait()
		p.Play(true)
		time.Sleep(2200 * time.Millisecond)
		synctest.Wait()
		if health() != sources.HealthStale {
			t.Error("played into the outage, the source is live")
		}
	})
}

// shortened is a recording whose inputs from before an instant of its second group were dropped.
type shortened struct{ *historytest.Log }

func (s shortened) Cursor(ctx context.Context, run int64, at time.Time) (history.Cursor, error) {
	return s.Log.Cursor(ctx, run, sources.Later(at, missingTo()))
}

func TestAPlayerSaysOfWhatWasDroppedThatItWas(t *testing.T) {
	t.Parallel()
	log := &historytest.Log{Group: 20}
	synctest.Test(t, func(t *testing.T) { historytest.Recorded(t, log, nil, nil) })
	synctest.Test(t, func(t *testing.T) {
		p := history.NewPlayer(t.Context(), shortened{log}, log)
		defer p.Close()
		for _, c := range []struct {
			jump time.Time
			why  history.Why
		}{{at(5 * time.Minute), history.Dropped}, {at(-time.Minute), history.NotRecorded}} {
			p.Seek(c.jump)
			synctest.Wait()
			if pos := p.Position(); pos.Hole == (history.Hole{}) || pos.Hole.Why() != c.why || pos.Err != nil {
				t.Errorf("at %v: %v of %+v, %v", c.jump, pos.Hole.Why(), pos.Hole, pos.Err)
			}
		}
	})
}
