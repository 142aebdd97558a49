// Package liartest plays servers that lie: at the address of a Redis or a YDB they answer
// with what no such server sends. Tests connect to them over real sockets to see that a
// lie costs its own source an error and nobody else anything.
//
// A [Redis] reads commands as Redis does and lets a function of the test write the answer.
package liartest
