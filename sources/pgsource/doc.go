// Package pgsource watches the advisory locks of one Postgres server: who owns which, who waits in which
// order, and what their sessions do. Watching is read-only: it takes no lock, and its sessions cannot write.
//
// It may import coord/*coord, sources, sources/kit, internal/ground/*.
//
// # A look
//
// The server announces nothing when a lock changes hands, so it is asked again and again. A
// look is two statements, each a transaction of its own: a narrow scan of pg_locks, and
// pg_stat_activity for just the processes that the scan found (a join of the two costs the
// server three times as much with 10,000 locks). A third one names prepared transactions
// if any owns a lock. Every database of the server is seen from any of them; a lock's
// Ref.Space is the name of its database.
//
// The statements are not one snapshot. A lock whose session ended, or began, between them
// is left as it was and looked at again at once; only after three such looks in a row is it
// published without the sessions that cannot be named.
//
// A difference from the last look happened in (After, At]: After is the sending of the
// last look, At is when the answer of this one had come. Two changes within that stretch
// are seen as one, as is a lock that its owner released and took again.
//
// # Queues
//
// The next owner of a lock is not always the first waiter: a session that owns it and asks for more goes
// before those that wait for it, shared waiters are served together, and the deadlock detector moves waiters.
// So the queue of the selected lock is asked for by pg_blocking_pids, at most 20 calls a second on one
// server, because each takes the whole lock table: Queue.How is Told once every waiter was asked for. Every
// other queue in which the order matters, and one of more than 200 waiters, is put in the order that follows
// from since when they wait, and is Inferred. Waiters of one Turn are served together, once all owners have
// released the lock.
//
// # How often
//
// Usually once a second; every PollMin for ten seconds after a change, while anybody waits, and while a lock
// of this source is selected on the screen; every two to five seconds with more than 5,000 locks, or where
// three looks in a row take longer than 50 ms: a single one may have been held up on our side. Such looks
// take a twentieth of the time at most, PollMax excepted. About.Sampling is the pause in use. A second
// connection listens on pgcoord.Channel and the configured channels, and whatever arrives there makes the
// source look at once; without it, looks go on alone.
//
// # Who
//
// A session is its process number and the start of its backend. Where the start is hidden
// from our role, the time when we first saw the process stands in its place, and there is
// no guard: such an owner cannot be distinguished from another that gets the same number. A session
// that owns a lock in two modes owns it twice; the ID of a shared ownership says so. All
// end with the server's incarnation: the identifier of its cluster and the start of its
// postmaster, and where a crash of one session has ended all of them, when that was. Its
// timeline is left out, because a standby that is promoted in place keeps its sessions and
// their locks. About.Became distinguishes a restart, a crash recovery and another server.
//
// Since when somebody owns a lock is not recorded by the server. An owner that the first look shows owned it
// then, and not before its backend began; of others the Hub knows the two looks between which they came. Why
// somebody does not own it any more follows in part: if the process is gone, its session ended; if it is
// alive, it has released the lock. Both are marked as inferred.
//
// The name of a session can change while it owns: its program renames it, or a pooler lends it to another
// client, which finds in it the locks that the one before has left behind. So an owner that was seen to take
// a lock keeps the name it had then, and its label has both. [sources.Leaked] reports that the lock may have
// leaked, or surely has where that session has answered us too. Data behind | is no part of a name. Over
// darkness the name that is remembered stands only with Owner.Proof: the session was idle at both looks, with
// the same state_change. It is given once a session has been idle for a second.
//
// Owners do not expire. Their attributes bear the names of pg_stat_activity; times in them
// are instants in UTC on our clock, with the server's time translated at each look. A query
// is shown without its literals, its comments and what follows the word password
// (internal/ground/mask), a name and data without secrets: what is read of a query finds
// candidates and programs here, and goes no further.
//
// Candidates are sessions whose last query tried for a lock (pg_try_advisory_lock) within a minute. A key in
// the text of the query links them surely to its lock; one that is a parameter links them, as probable, to
// the locks whose owners try in the very same way. The list may be incomplete, so an election without a
// leader and with an empty queue is one without a leader, not one without candidates.
//
// # Rights
//
// Any role sees all locks and all names of applications. Clients, states, queries and times of other roles'
// sessions need pg_monitor; without it they are unknown, and About.Warnings says so. Functions that need a
// missing right are not called: the server is asked first which ones we may call.
//
// # Poolers and standbys
//
// Behind a pooler that lends server sessions nothing is set, prepared or listened to, see
// [coordtop/internal/ground/pgwire]. Advisory locks are each server's own: a standby shows its own, and
// there is nothing to listen to.
package pgsource
