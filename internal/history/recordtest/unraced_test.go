//go:build !race

package recordtest

const raced = false
