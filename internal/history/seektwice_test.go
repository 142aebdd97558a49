package history_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
)

// slow answers the first question about events only when ctx ends, as a large file does.
type slow struct {
	*historytest.Log
	asked int
}

func (s *slow) Events(ctx context.Context, at time.Time, before, after int, of history.EventFilter) ([]history.Event, error) {
	if s.asked++; s.asked == 1 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Second):
		}
	}
	return s.Log.Events(ctx, at, before, after, of)
}

func TestASeekThatReplacesAnotherHasTheEventsOfBefore(t *testing.T) {
	t.Parallel()
	log := hour(t)
	count := func(twice bool) (n int) {
		synctest.Test(t, func(t *testing.T) {
			s := &slow{Log: log, asked: 1}
			if twice {
				s.asked = 0
			}
			p := history.NewPlayer(t.Context(), s, s)
			defer p.Close()
			synctest.Wait()
			if twice {
				p.Seek(at(30 * time.Minute))
				time.Sleep(time.Second)
			}
			p.Seek(at(30*time.Minute + 10*time.Second))
			synctest.Wait()
			if pos := p.Position(); pos.Err != nil || pos.Moving {
				t.Errorf("%+v", pos)
			}
			events, _ := p.Events(0)
			n = len(events)
		})
		return n
	}
	if once, twice := count(false), count(true); once != twice {
		t.Errorf("%d events; where a seek was under way to 10 s before: %d", once, twice)
	}
}
