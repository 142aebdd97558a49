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

// A Player begins in an earlier group for renewals, which are not stored: not so far apart, and not behind
// so many Inputs.
const (
	apart = time.Hour
	many  = 20_001
)

// TestItDoesNotMatterWhereAGroupBegins cuts a recording everywhere, also between an event and the
// publish that shows it, and goes to all of its events.
func TestItDoesNotMatterWhereAGroupBegins(t *testing.T) {
	t.Parallel()
	inputs := changes("a", "b", "", "c")
	for group, in := range inputs {
		if group > 0 && (group < many || in.Kind == sources.InputChange && len(in.Change.Set) == 0) {
			continue
		}
		log := &historytest.Log{Group: group + 1}
		if err := log.Add(slices.Clone(inputs)); err != nil {
			t.Fatal(err)
		}
		play(t, log, func(t *testing.T, p *history.Player) {
			shows := func(change int, move func()) {
				t.Helper()
				was := p.Position()
				move()
				synctest.Wait()
				if pos := p.Position(); !pos.At.Equal(at(time.Duration(change)*apart + time.Second/2)) {
					t.Errorf("groups of %d: change %d is at %v", group+1, change, pos.At.Sub(at(0)))
				}
				events, _ := p.Events(1000)
				if was.At.Equal(p.Now()) {
					return
				}
				last, cut := p.State().LastSeq, p.Position().Cuts != was.Cuts
				if len(events) == 0 || events[len(events)-1].Seq != last || cut && uint64(len(events)) != last {
					t.Errorf("groups of %d: change %d comes with the events %+v (anew: %t), want them up to %d", group+1, change, events, cut, last)
				}
			}
			for n := 4; n > 0; n-- {
				shows(n, func() { p.Seek(at(time.Duration(n)*apart + time.Second/2)) })
				if n > 1 {
					shows(n-1, func() { p.Step(-1) })
				}
			}
			for n := 2; n <= 4; n++ {
				shows(n, func() { p.Step(+1) })
			}
			for n := 3; n > 0; n-- {
				shows(n, func() { p.Step(-1) })
			}
		})
	}
}

// changes are the Inputs of a Hub that sees these owners of a mutex, one after the other; "": nobody. Each
// is published half a second after it was seen. Before the second one the source answers many times.
func changes(owners ...string) []sources.Input {
	limits := sources.DefaultThresholds()
	inputs := []sources.Input{{Kind: sources.InputStarted, Thresholds: &limits}, {Kind: sources.InputSources, Added: []sources.AddedSource{{Name: "s", Type: "redis"}}}}
	for i, owner := range owners {
		now := time.Duration(i+1) * apart
		p := &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindMutex, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, At: at(now)}
		if owner != "" {
			p.Taken, p.Owners = 1, []sources.Owner{{ID: owner}}
		}
		for range many * min(i, 1) * (2 - min(i, 2)) {
			alive := sources.Change{At: at(now), Alive: []string{""}}
			inputs = append(inputs, sources.Input{At: sources.Instant{Wall: at(now), Mono: now}, Kind: sources.InputChange, Source: "s", Change: alive})
		}
		c := sources.Change{At: at(now), Relists: i == 0, Synced: i == 0, Alive: []string{""}, Set: []*sources.Primitive{p}}
		inputs = append(inputs,
			sources.Input{At: sources.Instant{Wall: at(now), Mono: now}, Kind: sources.InputChange, Source: "s", Change: c},
			sources.Input{At: sources.Instant{Wall: at(now + time.Second/2), Mono: now + time.Second/2}, Kind: sources.InputPublished})
	}
	for i := range inputs {
		if inputs[i].Seq = uint64(i + 1); i < 2 {
			inputs[i].At.Wall = at(0)
		}
	}
	return inputs
}
