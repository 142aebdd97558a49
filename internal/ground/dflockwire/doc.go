// Package dflockwire is a client of one connection to a dflockd server: framing, replies as
// typed values and errors, login, TLS, time-outs, and the listing of everything (stats). It
// speaks the wire of version 1.10 and accepts what later releases add: more fields in a
// reply, other words of refusal, unknown members and null lists in stats.
//
// # A connection
//
// The server answers in order, and answers nothing else while a claim waits. So a Conn has one
// request under way; others queue for their turn. A request that ends without its answer
// (its context, the answer's time-out) ends the connection, because the next answer would be
// taken for that of the next request. Done is closed when the connection ends; Err and every
// later request return the reason. A goroutine reads all the time, so a server that hangs up is
// noticed also between requests; Close joins it. A server up to 2.x ends a connection that sends
// nothing for its --read-timeout, 23 s unless it was changed, and releases what it owned; only a
// claim that waits is exempt.
//
// A nonce is the proof of a grant, and a secret; no error holds one.
//
// # Reading stats
//
// An answer has 4 kB at most, but for that of stats, which is read as a stream: of any number of
// keys one is in memory, up to 128 MB of answer. An Entry of limit 1 is a key that is owned or
// waited for, one of a Semaphore has a higher limit, of which the server says only counts; Idle are
// keys that nobody uses and that the server has not yet forgotten. Entries come in any order. The
// lease of a lock surely lasts until Asked+Left, unless it is given back, and surely ends by
// Answered+Left, unless it is renewed. A Left of 0 has run out and is not yet swept. Ids of
// connections begin at 1 again when the server restarts.
package dflockwire
