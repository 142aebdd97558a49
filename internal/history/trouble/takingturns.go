package trouble

import (
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// Turns describes a lock that its owners took in turn without trouble.
type Turns struct {
	Owners []string // by name, the last one first
	Times  int      // how often it was taken
	Every  time.Duration
}

// fewTurns is the least number of terms of a lock that is said to take turns.
const fewTurns = 3

// TurnsOf returns the turns of a mutex. ok is false for an election or a semaphore, and for a mutex that was taken
// fewer than fewTurns times.
func TurnsOf(l *history.Lane, span history.Span) (t Turns, ok bool) {
	if l.Kind != sources.KindMutex || l.Leveled() {
		return t, false
	}
	var starts []time.Time
	for i := range slices.Backward(l.Terms) {
		x := &l.Terms[i]
		if name := x.Owner.Name(); !slices.Contains(t.Owners, name) {
			t.Owners = append(t.Owners, name)
		}
		if x.Start.Happened() && !x.Start.At.Before(span.From) {
			starts = append(starts, x.Start.At)
		}
	}
	if t.Times = len(starts); t.Times < fewTurns {
		return t, false
	}
	t.Every = starts[0].Sub(starts[t.Times-1]) / time.Duration(t.Times-1)
	return t, true
}
