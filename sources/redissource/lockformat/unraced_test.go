//go:build !race

package lockformat

// nonceValues is how many values TestNoNonceIsShown draws.
const nonceValues = 1_000_000
