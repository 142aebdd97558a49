package operate

import "time"

// Wait makes lines wait for the disk for however long. It is called before the AuditLog is
// used.
func (l *AuditLog) Wait() { l.within = time.Hour }

// Bound sets how long the file may become, and how many are kept. It is called before the
// AuditLog is used.
func (l *AuditLog) Bound(limit int64, keep int) { l.file.limit, l.file.keep = limit, keep }

// Stall keeps all lines from the disk until goOn is called.
func (l *AuditLog) Stall() (goOn func()) {
	l.turn <- struct{}{}
	return func() { <-l.turn }
}
