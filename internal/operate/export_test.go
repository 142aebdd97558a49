package operate

import "time"

// Stall keeps all lines from the disk until goOn is called, for however long.
func (j *Journal) Stall() (goOn func()) {
	j.within = time.Hour
	j.turn <- struct{}{}
	return func() { <-j.turn }
}
