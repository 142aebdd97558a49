// Package election elects the recorder of a store on Postgres (see package postgres) among those that stand for it.
//
// It may import coord, coord/pgcoord, internal/history, internal/ground/*.
//
// # Runs are fences
//
// A run is a stretch of time that one process records: a row of the store. Its number is a fence, and the greatest one
// is in the table store. Each transaction of a postgres.Writer checks that the number of its run is still that one, and
// otherwise returns history.ErrSuperseded. An elected recorder takes a number (postgres.Fence) before it observes. The
// run gets its row when there is something to write (postgres.Begin). So whatever the election decides, and however
// long a process was frozen, only one run has a Writer: the lock and the lease only decide who may ask for the next
// number, which postgres.Claim proves. What a superseded recorder saw before the next run began, a postgres.Filler may
// add to its run.
//
// # Lock and lease
//
// Recorders of one schema contend for one advisory lock of its database, by coord/pgcoord. A recorder that is killed
// frees the lock at once. One that is frozen does not: the kernel keeps its session open. Therefore the present run has
// a lease, too: it expires history.Lease after its last write, by the clock of the server. A recorder that stands by,
// sees the lease expired, and can write itself ends the session that owns the lock, so that the lock goes to the next
// in the queue. If its role may not end that session, it takes over by the lease alone. In both cases what the old run
// writes afterwards is refused.
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
