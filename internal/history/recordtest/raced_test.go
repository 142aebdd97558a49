//go:build race

package recordtest

// raced reports whether the race detector slows the tests down.
const raced = true
