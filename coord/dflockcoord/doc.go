// Package dflockcoord is the coord driver for dflockd: locks, semaphores and elections on a
// server, or on several with keys spread over them.
//
// It may import coord, coord/certs, coord/dflockwire, coord/internal/lifetime, internal/ground/*.
//
// # Keys
//
// A claim's name is the key. A mutex is a lock (limit 1). An election is a lock by convention, without data. Both
// therefore contend with each other and with the locks of other clients. A semaphore is claimed with its limit
// (coord.Claim.Limit): the first claim fixes it, and another limit is refused (dflockwire.ErrLimitMismatch) until a
// minute after the last use. Servers before 1.14 have one namespace for both kinds. With several servers,
// [Options].Shard chooses the server of a key. The default chooses the same server as the clients in Go, Python and
// TypeScript; the order of the list matters.
//
// # What a lease rests on
//
// Each claim has a connection of its own, which its lease keeps. When a connection ends, the server releases what that
// owned, unless it was started with --auto-release-on-disconnect=false. A lease whose connection ends is therefore lost
// at once. The server also ends a connection on which nothing arrives for its --read-timeout, and a lease that is not
// renewed. The window therefore begins when the last answered request was sent, and lasts for the lease or
// [Options].IdleCut, whichever is shorter. The lease of a claim that waited began at an unknown time during the wait,
// so that Acquire renews it before returning it. If the answer to a renewal comes late, the next call of Renew returns
// it, and the connection is kept. Leases are whole seconds.
//
// # Waiting
//
// A claim that waits takes its place with the command e and waits with w. Servers before 1.15 notice that a client hung
// up during w only at its turn or its time-out; at its turn they pass the grant to the next in the queue at once. On
// these servers each w therefore lasts at most [Options].LongestWait, after which the claim joins the queue again, at
// its end. A claim that is cancelled during w waits for the rest of it if that is short; else its error wraps
// coord.ErrUncertain. Leaving a place that is enqueued but not waited for is never uncertain. Several permits are
// claimed one after the other: the first in the queue's order, each other one only if it is free at once. If one is not
// free, all are released and claimed again, so that two claims never wait for each other; others may overtake such a
// claim.
//
// # Identity and fences
//
// The server lists the number of the connection that owns a lock ([OwnerID]), which is our identity; after each grant
// of limit 1, the driver reads one listing to learn it. For semaphores the server lists only counts, so a description
// has that number of owners and waiters, without ids. From version 2.1 on the first half of a nonce is a fence. A
// session recognises such a server when it opens: the server knows ping, and its stats have no signal_channels. The
// nonce is a secret: whoever has it can release the permit.
//
// # Errors
//
// Refusals wrap the values of package dflockwire. A wrong auth token, a certificate, another
// limit and a server that is not dflockd are coord.ErrRefused. A full queue, no room for
// another key, and a server that shuts down or cannot be reached are failures that may pass.
package dflockcoord
