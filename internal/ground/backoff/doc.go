// Package backoff computes the pauses between retries: they grow exponentially, are spread by jitter so that clients
// that failed together do not return together, and are short again after a success. UntilTurn gives all work that
// is done about once a second the same phase.
//
// It may import nothing of this module.
package backoff
