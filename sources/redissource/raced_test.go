//go:build race

package redissource

// nonceValues is a tenth of those of unraced_test.go: the race detector is ten times slower.
const nonceValues = 100_000
