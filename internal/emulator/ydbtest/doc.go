// Package ydbtest is a YDB coordination service for tests and demonstrations: the wire
// protocol on real listeners or in memory, with a pure model of the service behind it.
//
// It imports nothing of ours, so that it cannot agree with mistakes of our client.
package ydbtest
