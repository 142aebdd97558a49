// Package liartest plays servers that lie: they claim to be Redis or YDB and send answers that no such server sends.
// Tests connect to them over real sockets, and check that a lie causes an error of its own source and harms no other.
//
// It may import nothing of this module.
//
// A [Redis] reads commands as Redis does and lets a function of the test write the answer. A [Frames] greets like a
// server of HTTP/2, such as YDB, and then writes the same frames without end. Both are closed when the test ends, and
// wait for their goroutines.
package liartest
