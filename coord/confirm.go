package coord

import "coordtop/internal/spawn"

// Confirm asks the service now whether the lease is still ours, and not when the next renewal
// is due. It is for a program that sees the primitive by another way, such as a watch, and
// finds another owner there: that report may be older than the grant, or wrong, so it ends
// nothing by itself. Only the service's answer does, as that of any renewal.
//
// It does not block. However often it is called, the requests are paced: the first is sent at
// once, the next one after an eighth of the window.
// Where the session is what is renewed, that is renewed. After the lease's end it does nothing.
func (l *Lease) Confirm() {
	spawn.Wake(l.renewed().renewNow)
}
