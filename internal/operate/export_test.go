package operate

import "time"

// Wait makes lines wait for the disk for however long. It is called before the Journal is
// used.
func (j *Journal) Wait() { j.within = time.Hour }

// Bound sets how long the file may become, and how many are kept. It is called before the
// Journal is used.
func (j *Journal) Bound(limit int64, keep int) { j.file.limit, j.file.keep = limit, keep }

// Stall keeps all lines from the disk until goOn is called.
func (j *Journal) Stall() (goOn func()) {
	j.turn <- struct{}{}
	return func() { <-j.turn }
}
