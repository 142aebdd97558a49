//go:build !race

package dflockwire_test

// raced reports whether the race detector slows the tests down and takes memory of its own.
const raced = false
