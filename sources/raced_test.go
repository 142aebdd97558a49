//go:build race

package sources

// raced reports whether the race detector slows the tests down.
const raced = true
