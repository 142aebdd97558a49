// Package dflocksource watches the locks and semaphores of dflockd servers, by asking each for
// its stats again and again: the protocol of its releases pushes nothing.
//
// It may import coord/*coord, sources, sources/kit, internal/ground/*.
//
// # Servers
//
// Each server of Options.Client is a scope, and the space of its rows, named host:port. It
// has one connection, a pace and pauses of its own. One that cannot be read is stale with the
// reason (Change.Down) while the others are still read. When none is left and one cannot be
// connected again, the link ends with the reason. Clients choose the server of a key by its
// hash and their list of servers (dflockwire.Shard). A key on another server than our list
// gives is flagged: some client has another list.
//
// # What stats says, and what follows
//
// For a lock stats has the id of the connection that owns it, the rest of its lease, and the number of
// waiters. The rest of the lease gives its end, within the time that the request took; an end that moved is a
// renewal between two looks. A lease is a whole number of seconds long: the length is known once only one
// fits to the renewals that were seen. The server does not say who waits.
//
// For a semaphore it has the limit, and how many permits are owned and waited for. Its owners are unknown,
// which is not "nobody".
//
// A key that nobody uses is listed as idle, and not at all after a minute: both are free. A
// lease of 0 s has run out and is not swept yet: its owner still owns.
//
// A connection may release a lock and acquire it again between two looks: that looks like a
// renewal. The server does not say whether an owner released its lock, hung up, or was cut off for
// being silent too long: so the cause of an end is unknown, unless the lease had run out, or the owner's
// connection is alive, which owns something else at the look that shows the end. Then it released it,
// but for a lease that would have ended between the same two looks: it ran out, or was renewed and
// released.
//
// # Restart
//
// A restarted server has lost everything, and ids of connections begin at 1 again. A restart is inferred when
// our connection broke and the next listing lacks keys, used or not, that a server does not forget so soon (a
// minute, or less once it was seen to forget one sooner), or has several owners, all with ids lower than any
// owner had before, of keys for which nobody waited. A key that has stayed as it was shows that there was no
// restart. The server reports neither its version nor the time of its start: where every key that was listed
// is owned again, each by the id that owned it before, nothing shows a restart, and it looks like renewals.
//
// # Pace and cost
//
// The pause between two looks is PollMin for ten seconds after a change, while a row of the
// server is selected on screen, else a second, and never less than twenty times what a look
// takes, up to PollMax: far below the 23 s after which a server ends a silent connection.
// Each look is one request; the server makes the listing of 1,024 keys in 0.6 ms, of 10,000 in 12.
//
// The listing is read as a stream. Of all servers of a source mostKeys keys are kept, those that were listed
// first; the number of the others is a warning, and so is a key whose name the server does not list exactly:
// it lists U+FFFD for any bytes that are no UTF-8. Such a key has no row, and a name with U+FFFD, or a NUL,
// is neither watched nor claimed.
//
// # Versions
//
// No server says which version it is. The version follows from its answers: see versionOf.
package dflocksource
