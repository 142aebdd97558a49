//go:build race

package legible_test

// raced reports whether the race detector slows the tests down.
const raced = true
