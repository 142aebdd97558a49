//go:build !unix

package ui

// alone is true where programs cannot be suspended.
func alone() bool { return true }
