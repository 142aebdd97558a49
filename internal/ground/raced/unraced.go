//go:build !race

package raced

// Enabled reports whether the race detector is built in.
const Enabled = false
