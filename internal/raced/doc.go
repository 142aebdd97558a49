// Package raced tells tests whether they run with the race detector, which makes them some ten times slower
// and takes memory of its own. A test of volume that runs in one goroutine does less then, or nothing: the
// detector compares what several goroutines do. A test whose subject is concurrency does not ask.
package raced
