//go:build !race

package redissource

// nonceValues is how many values TestNoNonceIsShown draws.
const nonceValues = 1_000_000
