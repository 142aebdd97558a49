// Package liartest plays servers that lie: at the address of a Redis or a YDB they answer
// with what no such server sends. Tests connect to them over real sockets to see that a
// lie costs its own source an error and nobody else anything.
//
// It may import nothing of this module.
//
// A [Redis] reads commands as Redis does and lets a function of the test write the answer.
// A [Frames] greets as a server of HTTP/2 does, which is what a YDB is, and then writes the
// same frames without end. Both are closed when the test ends, and wait for what they
// started.
package liartest
