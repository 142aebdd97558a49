// Package dflocksource watches the locks and semaphores of dflockd servers, by asking each for
// its stats again and again: the protocol of its releases pushes nothing.
//
// # Servers
//
// Each server of Options.Client is a scope, and the space of its rows, named host:port. It
// has one connection, a pace and pauses of its own. One that cannot be read is stale with its
// reason (Change.Down) while the others are read on; where none is left and one cannot be
// connected again, the link ends with that reason. Clients choose the server of a key by its hash and by their order of the servers
// (dflockwire.Shard); a key found on another one than that of our order is said to be in the wrong
// place: some client has another list.
//
// # What stats tells, and what follows
//
// Of a lock: the id of the connection that owns it, what is left of its lease, and how many
// wait. From what is left follows when the lease ends, as exactly as the question took; an
// end that moved is a renewal between two looks. The length of a lease is a whole number of
// seconds: it is known once only one fits to what was seen of its renewals. Who waits, nobody is told.
//
// Of a semaphore: its limit, and how many permits are owned and waited for. Who owns them is
// unknown, which is not "nobody".
//
// A key that nobody uses is listed as idle, and not at all after a minute: both are free. A
// lease of 0 s has run out and is not swept yet: its owner still owns.
//
// A connection may give a lock back and take it again between two looks: that is seen as a
// renewal. Whether an owner gave its lock back, hung up or was cut off for being silent too
// long is told nowhere.
//
// # Restart
//
// Everything is in the server's memory and ids of connections begin at 1 again. A connection of
// ours that broke, and after it a listing in which keys are missing that no server forgets so
// soon, or in which several owners changed to ids lower than all before, is a restart
// (inferred); a key that is as it would have been without it shows that there was none.
//
// # Pace and cost
//
// The pause between two looks is PollMin for ten seconds after a change, while a row of the
// server is selected on screen, else a second, and never less than twenty times what a look
// takes, up to PollMax: far below the 23 s after which a server ends a silent connection.
// Each look is one request; the server makes the listing of 1,024 keys in 0.6 ms, of 10,000 in 12.
//
// # Versions
//
// No server tells its version. It follows from what it answers: see versionOf.
package dflocksource
