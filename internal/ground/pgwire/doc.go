// Package pgwire makes the connections to Postgres for the driver coord/pgcoord and the source sources/pgsource. It
// makes sure that we do not harm a client that shares a server session with us, that a server with false answers costs
// little, and that errors are sentences.
//
// It may import internal/ground/*.
//
// # Poolers
//
// A pooler in transaction or statement mode lends a server session for each statement, and the session that it lends to
// us may own the session-level lock of somebody else. When a client leaves while its statement runs or its transaction
// is open, pgbouncer closes that server session ("client disconnect while server was not ready", pgbouncer
// src/objects.c), and the lock is free although its owner still believes in it. A statement mode pooler does the same
// to a client that sends BEGIN. Therefore:
//
//   - No transaction of ours lasts longer than one message: BEGIN is never sent, nor a
//     statement that the server does not end by itself with its answer.
//   - [Open] finds out whether a pooler stands between us and the server before it sends other statements, see
//     [Pooler]. Until that is known, and as long as a session is lent, the end of a context and [Conn.Cut] do not
//     interrupt a statement: they wait for its answer, for at most [Grace]. After that the connection is closed all the
//     same.
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
// Open compares the id of the process that answers with the id that the login named; behind a pooler they differ. Then
// a second connection and the first ask in turn which process serves them. In session mode each connection always has
// its own process. A pooler that lends takes the session that was used last, so that both connections see the same
// process, or the session that was idle for longest, so that one connection sees two processes. If all sessions of a
// pooler are in use, the second connection waits; if the pooler serves the first during that wait, it is in session
// mode.
//
// # Servers that lie
//
// The types and lengths of messages are checked before the library reads them: a message that Postgres would not send
// ends the connection with [ErrForeign]. Too many bytes before the end of an answer, or within some seconds without a
// question, end it with [Excess].
//
// # Rules of use
//
// A Conn is used by one goroutine at a time; only Cut may be called by any. The caller must close it.
package pgwire
