package history_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/sources"
)

// TestEventsKeepTheirOrderWhereTheClockWasSetBack sets it back by three hours within a run, and cuts
// that after each Input.
func TestEventsKeepTheirOrderWhereTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	inputs := slices.DeleteFunc(changes("a", "b", "c", "d"), func(in sources.Input) bool { return in.Kind == sources.InputChange && len(in.Change.Set) == 0 })
	step := sources.Input{At: sources.Instant{Wall: at(0), Mono: 3 * apart}, Kind: sources.InputClockStep, Step: -3 * time.Hour}
	const back = 6 // before the third change
	inputs = slices.Insert(inputs, back, step)
	for i := range inputs {
		if inputs[i].Seq = uint64(i + 1); i > back {
			inputs[i].At.Wall = inputs[i].At.Wall.Add(step.Step)
			inputs[i].Change.At = inputs[i].At.Wall
		}
	}
	for group := range inputs {
		log := &historytest.Log{Group: group + 1}
		if err := log.Add(slices.Clone(inputs)); err != nil {
			t.Fatal(err)
		}
		play(t, log, func(t *testing.T, p *history.Player) {
			p.Seek(at(apart + time.Second)) // after the step the fourth change is at one hour
			synctest.Wait()
			events, _ := p.Events(0)
			for i, e := range events {
				if e.Seq != uint64(i+1) {
					t.Fatalf("groups of %d: event %d comes as number %d of %+v", group+1, e.Seq, i+1, events)
				}
			}
			if uint64(len(events)) != p.State().LastSeq || len(events) == 0 {
				t.Errorf("groups of %d: %d events up to number %d", group+1, len(events), p.State().LastSeq)
			}
		})
	}
}
