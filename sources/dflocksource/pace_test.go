package dflocksource

import (
	"fmt"
	"testing"
	"time"

	"coordtop/sources"
)

// TestPaceFollowsChangesTheScreenAndTheCost also looks that no pause comes near the 23 s after which
// a server ends a silent connection.
func TestPaceFollowsChangesTheScreenAndTheCost(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	begin := time.Now()
	type look struct {
		after, cost  time.Duration
		moved, eager bool
		want         time.Duration
	}
	for name, looks := range map[string][]look{
		"nothing happens":            {{20 * time.Second, ms, false, false, time.Second}},
		"a change":                   {{0, ms, true, false, 500 * ms}, {9 * time.Second, ms, false, false, 500 * ms}, {11 * time.Second, ms, false, false, time.Second}},
		"a selected row":             {{20 * time.Second, ms, false, true, 500 * ms}},
		"one look that stalls":       {{20 * time.Second, ms, false, false, time.Second}, {22 * time.Second, time.Second, false, false, time.Second}},
		"looks that cost":            {{20 * time.Second, 100 * ms, false, false, 2 * time.Second}},
		"looks that cost, and a row": {{20 * time.Second, 100 * ms, false, true, 2 * time.Second}},
		"looks that cost very much":  {{20 * time.Second, 2 * time.Second, true, true, 5 * time.Second}},
	} {
		p := sources.Pace{Min: 500 * ms, Max: 5 * time.Second}
		for _, l := range looks {
			at := begin.Add(l.after)
			if p.AddCost(l.cost); l.moved {
				p.Changed = at
			}
			if got := p.Pause(at, l.eager); got != l.want {
				t.Errorf("%s, after %v: a pause of %v, want %v", name, l.after, got, l.want)
			}
		}
	}
	o, err := Options{PollMin: time.Minute, PollMax: time.Hour}.withDefaults()
	if err != nil || o.PollMin != longestPoll || o.PollMax != longestPoll {
		t.Errorf("pauses from %v to %v, %v", o.PollMin, o.PollMax, err)
	}
}

func TestKeysBeyondTheLimitAreCounted(t *testing.T) {
	t.Parallel()
	l := newListings(Options{})
	for i := range mostKeys {
		l.rows[fmt.Sprint("key ", i)] = &row{unused: l.began, exact: true}
	}
	l.at(0, true, locks(held("a", 7, time.Minute), held("b", 7, time.Minute)))
	if w := l.warnings(); len(w) != 1 || w[0] != "2 keys more than are watched: select some with keys=" {
		t.Errorf("it says %q", w)
	}
}
