//go:build race

package ui

// raced reports whether the race detector slows the tests down.
const raced = true
