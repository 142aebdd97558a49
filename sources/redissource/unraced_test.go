//go:build !race

package redissource

// burst is how many locks go at once.
const burst = 20_000
