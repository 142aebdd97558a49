// Package pgsource watches the advisory locks of one Postgres server: who owns which, who waits in which
// order, and what their sessions do. Watching is read-only: it takes no lock, and its sessions cannot write.
//
// It may import coord/*coord, sources, sources/kit, internal/ground/*.
//
// # A look
//
// The server announces nothing when a lock gets another owner, so the source reads it repeatedly. A look is two
// statements, each in its own transaction: a narrow scan of pg_locks, and pg_stat_activity for only the processes that
// the scan found (a join of the two costs the server three times as much with 10,000 locks). A third statement names
// prepared transactions if any owns a lock. The locks of all databases are visible from each of them; a lock's
// Ref.Space is the name of its database.
//
// The statements are not one snapshot. If the session of a lock ended or began between them, the lock keeps its state
// and the next look follows at once. After three such looks in a row the lock is published without the unknown
// sessions.
//
// A difference from the last look happened in (After, At]. After is the time at which the last look was sent, At the
// arrival of the answer to this one. Two changes within that stretch appear as one, for example if an owner released a
// lock and acquired it again.
//
// # Queues
//
// The next owner of a lock is not always the first waiter: a session that owns the lock and asks for another mode goes
// before those that wait for it, shared waiters are served together, and the deadlock detector moves waiters. So for
// the selected lock the source calls pg_blocking_pids for each waiter. It makes at most 20 calls a second on one
// server, because each call locks the whole lock table. Queue.How is Told once it has called it for every waiter. Any
// other queue in which the order matters, and one of more than 200 waiters, is Inferred: its order follows from since
// when the waiters wait. Waiters of one Turn are served together, once all owners have released the lock.
//
// # How often
//
// The source usually looks once a second. It looks every PollMin for ten seconds after a change, while anybody waits,
// and while a lock of this source is selected on the screen. It looks every two to five seconds with more than 5,000
// locks, or if three looks in a row take longer than 50 ms (a single one may have been delayed on our side). Such looks
// take at most a twentieth of the time, unless PollMax is shorter. About.Sampling is the present pause. A second
// connection listens to pgcoord.Channel and the configured channels; each notification causes a look at once. Without
// that connection, only the regular looks remain.
//
// # Who
//
// A session is its process number and the start of its backend. If the start is hidden from our role, the time when we
// first saw the process replaces it, and there is no guard, because such an owner cannot be distinguished from a later
// one with the same number. A session that owns a lock in two modes owns it twice; the ID of a shared ownership names
// the mode. All sessions end with the server's incarnation. That is the identifier of its cluster, the start of its
// postmaster, and the time of a crash of one session that ended all of them. The timeline is not part of it, because a
// standby that is promoted in place keeps its sessions and their locks. About.Became distinguishes a restart, a crash
// recovery and another server.
//
// The server does not record since when a lock is owned. For an owner in the first look, the ownership began at that
// look or before, but not before the backend began. For later owners the Hub knows the two looks between which they
// appeared. The cause of an end is inferred: if the process is gone, its session ended; if it is alive, it has released
// the lock.
//
// The name of a session can change while it owns: its program renames it, or a pooler lends it to another client
// together with the locks that the last client left in it. So an owner that was seen to acquire a lock keeps the name
// it had then, and its label has both names. [sources.Leaked] reports that the lock may have leaked, or surely has if
// that session has also answered us. Data after | is no part of a name. After darkness the old name is kept only with
// an equal Owner.Proof: the session was idle at both looks, with the same state_change. A session has a proof once it
// has been idle for a second.
//
// Owners do not expire. Their attributes have the names of columns of pg_stat_activity. Times in them are instants in
// UTC on our clock, converted from the server's time at each look. A query is shown without its literals, its comments
// and what follows the word password (internal/ground/mask); names and data are shown without secrets. The full text of
// a query is used only in this package, to find candidates and programs.
//
// Candidates are sessions whose last query tried for a lock (pg_try_advisory_lock) within a minute. If the text of the
// query contains the key, the session is surely a candidate for that lock. If the key is a parameter, it is a probable
// candidate for the locks whose owners try in the same way. The list may be incomplete, so that an election with no
// leader and an empty queue counts as one without a leader, not as one without candidates.
//
// # Rights
//
// Any role can read all locks and all names of applications. To read clients, states, queries and times of other roles'
// sessions it needs pg_monitor; without it they are unknown, and About.Warnings reports that. The source first asks
// which functions it may call, and does not call the others.
//
// # Poolers and standbys
//
// If a pooler lends server sessions, nothing is set, prepared or listened to, see [coordtop/internal/ground/pgwire].
// Each server has advisory locks of its own, so that a standby shows only those, and a standby sends no notifications.
package pgsource
