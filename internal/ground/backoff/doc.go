// Package backoff computes the pauses between retries: they grow exponentially, are spread by jitter so that clients
// that failed together do not return together, and start anew after a success. It also says when to do the work that is
// done once a second.
//
// It may import nothing of this module.
package backoff
