// Package dflocksource watches the locks and semaphores of dflockd servers, by reading the stats of each repeatedly,
// because the protocol pushes nothing.
//
// It may import coord/*coord, coord/dflockwire, sources, sources/kit, internal/ground/*.
//
// # Servers
//
// Each server of Options.Client is a scope, and the space of its rows, named host:port. It has one connection, a pace
// and pauses of its own. A server that cannot be read is stale, with the reason (Change.Down), while the others are
// still read. When none is left and one cannot be connected again, the link ends with the reason. Clients choose the
// server of a key by its hash and their list of servers (dflockwire.Shard). A key on another server than our list gives
// is flagged, because some client has another list. If clients use a function of their own (ClientOptions.OwnSharding),
// nothing is flagged, and a key that is selected by its whole name has a row on each server.
//
// # What stats reports, and what follows
//
// For a lock, stats has the id of the connection that owns it, the rest of its lease, and the number of waiters. The
// rest of the lease gives its end, to within the duration of the request; if the end has moved, there was a renewal
// between two looks. A lease is a whole number of seconds long. Its length is known once only one length fits the
// renewals that were seen. The server does not report who waits.
//
// For a semaphore it has the limit, and the numbers of owned and requested permits. Its owners are unknown, which does
// not mean that nobody owns it.
//
// A key that nobody uses is listed as idle, and after a minute not at all; in both cases it is free. A lease of 0 s has
// run out but is not swept yet; its owner still owns it.
//
// If a connection releases a lock and acquires it again between two looks, that looks like a renewal. The server does
// not report whether an owner released its lock, hung up, or was cut off after a long silence. So the cause of an end
// is known in only two cases. If the lease had run out, it expired. If the owner's connection is alive, because it owns
// something else at the look that shows the end, it released the lock; but the cause stays unknown if the lease would
// have ended between the same two looks.
//
// # Restart
//
// A restarted server has lost everything, and ids of connections begin at 1 again. A restart is inferred if our
// connection broke and one of two things holds. Either the next listing lacks keys, used or not, that a server does not
// forget so soon (a minute, or less once it was seen to forget one sooner). Or it has several owners of keys without
// waiters, and all have lower ids than any earlier owner. An unchanged key shows that the server was not restarted. The
// server reports neither its version nor the time of its start. So if every listed key is owned again by the same id, a
// restart looks like renewals.
//
// # Pace and cost
//
// The pause between two looks is PollMin for ten seconds after a change and while a row of the server is selected on
// screen, else a second. It is at least twenty times the duration of a look, but at most PollMax, which is far below
// the 23 s after which a server ends a silent connection. Each look is one request. The server lists 1,024 keys in 0.6
// ms, and 10,000 in 12 ms.
//
// The listing is read as a stream. A source keeps at most mostKeys keys of all its servers, those that were listed
// first; a warning has the number of the others. Another warning reports keys whose names the server does not list
// exactly, because it lists U+FFFD for bytes that are no UTF-8. Such a key has no row, and a name with U+FFFD or a NUL
// is neither watched nor claimed.
//
// # Versions
//
// Servers do not report their version. It is inferred from their answers, see versionOf.
package dflocksource
