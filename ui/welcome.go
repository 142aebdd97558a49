package ui

import (
	"time"

	"coordtop/sources"
	"coordtop/ui/keys"
)

// welcomeTime is how long the welcome of the demo stands at the most: any message replaces it.
const welcomeTime = 45 * time.Second

// welcome says at the start of the demo what happens in it, and what to try.
func (m *model) welcome() {
	key := m.Keys.KeyOf
	m.SayFor(welcomeTime, "Demo: programs lead and queue on private servers; 4242 is never given back.\n"+
		"Try "+key(keys.Crash)+": it crashes the leader's process. Then "+key(keys.Open)+", "+key(keys.Events)+" (events), "+key(keys.Help)+" (signs).")
}

// toLeader puts the cursor of the demo on a leader, as long as nobody has moved it: there is
// most to try.
func (m *model) toLeader() {
	if !m.options.Demo || m.Locks.Moved() {
		return
	}
	for _, h := range m.Rows.Handles {
		if row, _ := m.Rows.At(h); row != nil && row.Kind == sources.KindElection && len(row.Owners) > 0 {
			m.Locks.Select(h)
			return
		}
	}
}
