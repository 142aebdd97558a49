// Package election elects the recorder of a store on Postgres (see package postgres) among those that stand for it.
//
// It may import coord, coord/pgcoord, internal/history, internal/ground/*.
//
// # Lock and lease
//
// Recorders of one schema contend for one advisory lock of its database, by coord/pgcoord. A recorder that is killed
// frees the lock at once. One that is frozen does not: the kernel keeps its session open. Therefore the present run has
// a lease, too: the instant of its last write, by the clock of the server. A recorder writes at least every 1.1 s.
// A recorder that stands by, sees the lease expired, and can write itself ends the session that owns the lock, so that
// the lock goes to the next in the queue. If its role may not end that session, it takes over by the lease alone. In both
// cases the new run is a row of the store, and what the old run writes afterwards is refused: the lock and the lease only
// decide who may ask.
//
// While the server does not answer, nobody but the recorder stands. After that the others wait for some seconds, because
// the recorder alone has what happened meanwhile.
//
// The lock belongs to a session, so that the address must lead to the server, or to a pooler in session mode.
//
// # Clocks
//
// No decision compares clocks of two machines: the age of a lease is computed by the server. [Elector] measures how far
// the clock of this machine is ahead of the server's, and writes the interval to the row of the run.
package election
