package operate

import "time"

// Wait makes lines wait for the disk for however long. It is called before the Journal is
// used.
func (j *Journal) Wait() { j.within = time.Hour }

// Stall keeps all lines from the disk until goOn is called.
func (j *Journal) Stall() (goOn func()) {
	j.turn <- struct{}{}
	return func() { <-j.turn }
}
