//go:build race

package lockformat

// nonceValues is a quarter of those of unraced_test.go: the race detector is ten times slower.
const nonceValues = 25_000
