//go:build !linux

package terminal

// drop does nothing on systems on which waking a waiting writer was not tested.
func drop(uintptr) {}
