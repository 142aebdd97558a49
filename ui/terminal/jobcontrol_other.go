//go:build !unix

package terminal

// NoJobControl returns true: programs cannot be suspended on this system.
func NoJobControl() bool { return true }
