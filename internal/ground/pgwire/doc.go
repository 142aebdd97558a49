// Package pgwire makes the connections to Postgres of the driver coord/pgcoord and of the
// source sources/pgsource. It makes sure that a client that shares a server
// session with us is not harmed, that a server that lies costs little, and that errors are sentences.
//
// It may import internal/ground/*.
//
// # Poolers
//
// A pooler in transaction or statement mode lends a server session for each statement, and
// the session that it lends to us may own the session-level lock of somebody else. When a
// client leaves while its statement runs or its transaction is open, pgbouncer closes that
// server session ("client disconnect while server was not ready", pgbouncer src/objects.c),
// and the lock is free although its owner believes that it owns it. A statement mode pooler does
// the same to a client that sends BEGIN. Therefore:
//
//   - No transaction of ours lasts longer than one message: BEGIN is never sent, nor a
//     statement that the server does not end by itself with its answer.
//   - [Open] finds out whether a pooler stands between before it asks anything else, see [Pooler].
//     Until that is known, and as long as a session is lent, the end of a context and [Conn.Cut] do
//     not interrupt a statement: they wait for its answer, for at most [Grace]. After that the
//     connection is closed all the same.
//   - A session that is lent keeps nothing of ours: no setting, no prepared statement, no
//     LISTEN, no application_name. Each statement is read-only and bounded by settings that
//     end with it, sent in the same message.
//
// One gap remains: if this process is killed (SIGKILL) in the milliseconds in
// which a statement is under way, the kernel closes the socket, and the pooler the server session.
// A client cannot prevent that.
//
// # The probe
//
// Open compares the process that answers with the one that the login named; behind a
// pooler they differ. Then a second connection and the first ask in turn which process serves them.
// In session mode each always has its own. A pooler that lends gives both the session
// that was used last, so that both see the same process, or the one that was not used for longest, so that two
// questions of one connection see two processes. A pooler whose sessions are all in use lets the second
// wait: if the first is served meanwhile, its session is its own.
//
// # Servers that lie
//
// The types and lengths of messages are checked before the library reads them: one that Postgres
// would not send ends the connection with [ErrForeign]. An [Excess] ends it if too much comes before
// the end of an answer, or within some seconds although there is no question.
//
// # Rules of use
//
// A Conn is used by one goroutine at a time, but for Cut. The caller must close it.
package pgwire
