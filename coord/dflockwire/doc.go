// Package dflockwire is a client of one connection to a dflockd server: framing, replies as typed values and errors,
// login, TLS, time-outs, and the listing of everything (stats). It speaks the protocol of version 1.10 and accepts the
// additions of later releases: more fields in a reply, other words of refusal, unknown members and null lists in stats.
//
// It may import internal/ground/failure, internal/ground/spawn.
//
// # A connection
//
// The server answers in order, and answers nothing else while a claim waits. Therefore a Conn has one request under way
// at a time; other requests wait for their turn. A request that ends without its answer (by its context or its
// time-out) ends the connection, because the next request would receive that answer. Done is closed when the connection
// ends; Err and every later request return the reason. A goroutine reads all the time, so that the end of the
// connection is noticed also between requests; Close joins this goroutine. Servers through 2.x end a connection that
// sends nothing for --read-timeout (23 s by default) and release what it owned, unless a claim waits on it.
//
// A nonce proves a grant and is a secret; no error contains a nonce.
//
// # Reading stats
//
// An answer has 4 kB at most, except that of stats, which has 128 MB at most and is read as a stream with one key in
// memory at a time. An Entry with a limit of 1 is a key that is owned or waited for. A semaphore has a higher limit,
// and the server lists only its counts. Idle Entries are keys that nobody uses and that the server has not yet
// forgotten. Entries come in any order. The lease of a lock surely lasts until Asked+Left, unless it is given back, and
// surely ends by Answered+Left, unless it is renewed. A lease with a Left of 0 has expired, and the server has not
// removed it yet. Ids of connections begin at 1 again when the server restarts.
package dflockwire
