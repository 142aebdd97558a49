//go:build !race

package lockformat

// nonceValues is how many values TestNoNonceIsShown draws.
const nonceValues = 100_000
