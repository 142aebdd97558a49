//go:build !linux

package terminal

// drop does nothing where how a waiting writer is woken was not tried: a terminal that
// does not read is then left as it is.
func drop(uintptr) {}
