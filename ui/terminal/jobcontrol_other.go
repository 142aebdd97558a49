//go:build !unix

package terminal

// NoJobControl is true where programs cannot be suspended.
func NoJobControl() bool { return true }
