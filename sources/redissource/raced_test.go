//go:build race

package redissource

// burst is a quarter of that of unraced_test.go: the race detector is ten times slower.
const burst = 5_000
