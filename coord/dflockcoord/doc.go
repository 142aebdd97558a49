// Package dflockcoord is the coord driver for dflockd: locks, semaphores and elections on a
// server, or on several with keys spread over them.
//
// It may import coord, coord/internal/lifetime, internal/ground/*.
//
// # Keys
//
// A claim's name is the key. A mutex is a lock (limit 1), an election a lock by convention,
// without data; so both contend with each other and with the locks of other clients. A
// semaphore is claimed with its limit (coord.Claim.Limit): the first claim fixes it, and
// another limit is refused (dflockwire.ErrLimitMismatch) until a minute after the last use.
// Servers before 1.14 have one namespace for both kinds. With several servers a key belongs to
// the one that [Options].Shard chooses, by default the same as the clients in Go, Python and TypeScript
// choose; the order of the list matters.
//
// # What a lease rests on
//
// Each claim has a connection of its own, which its lease keeps: when a connection ends the server gives away
// what it owned (unless the server was started with
// --auto-release-on-disconnect=false), so a lease whose connection ends is lost at once. The
// server also ends a connection that sends nothing for its --read-timeout, and a lease that is
// not renewed. So the window begins when the last answered request was sent, and lasts as long
// as the shorter of the lease and [Options].IdleCut. The lease of a claim that waited began at
// an unknown time during the wait, so it is renewed before Acquire returns it. The answer to a
// renewal may come late: the next call of Renew returns it, and the connection is kept. Leases
// are whole seconds.
//
// # Waiting
//
// A claim that waits takes its place with the command e and waits with w. Servers before 1.15 notice a
// client that hangs up during w only when its turn or its time-out comes; they pass its grant
// to the next in the queue at once. So on these each w lasts [Options].LongestWait at most,
// after which the claim joins the queue anew, at its end. A claim that is cancelled during w waits
// for the rest of it, if that is short; else its error wraps coord.ErrUncertain. Leaving a place that is
// enqueued and not waited for is never uncertain. Several permits are claimed
// one after the other: the first in the queue's order, each other one only if it is free at once.
// If one is not, all are released and claimed again, so that two claims never wait for each other;
// such a claim may be overtaken.
//
// # Identity and fences
//
// The server lists the number of the connection that owns a lock ([OwnerID]), which is our
// identity; one listing is read after each grant of a limit of 1 to learn it. For semaphores the server
// lists only counts, so a description has that number of owners and waiters, without ids.
// From version 2.1 on the first half of a nonce is a fence. A session recognises such a server
// when it opens: the server knows ping, and its stats have no signal_channels. The nonce is a
// secret: whoever has it can release the permit.
//
// # Errors
//
// Refusals wrap the values of package dflockwire. A wrong auth token, a certificate, another
// limit and a server that is not dflockd are coord.ErrRefused. A full queue, no room for
// another key, and a server that shuts down or cannot be reached are failures that may pass.
package dflockcoord
