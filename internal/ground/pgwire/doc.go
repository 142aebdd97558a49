// Package pgwire makes the connections to Postgres of the driver coord/pgcoord and of the
// source sources/pgsource. They are guarded in three ways: nobody who shares a server
// session with us is harmed, a server that lies costs little, and errors are sentences.
//
// # Poolers
//
// A pooler in transaction or statement mode lends a server session for each statement, and
// the session that it lends to us may own the session-level lock of somebody else. When a
// client leaves while its statement runs or its transaction is open, pgbouncer closes that
// server session ("client disconnect while server was not ready", pgbouncer src/objects.c),
// and the lock is free although its owner believes to have it. A statement mode pooler does
// the same to a client that sends BEGIN. Therefore:
//
//   - No transaction of ours lasts longer than one message: none is ever begun. A
//     statement that the server does not end by itself with its answer is never sent.
//   - [Open] finds out what stands between before anything else is asked, see [Pooler].
//     Until that is known, and for as long as a session is lent, the end of a context does
//     not interrupt a statement: its answer is waited for, for at most [Grace], and so does
//     [Conn.Cut]. A server that is slower does not answer at all; then the
//     connection is closed all the same.
//   - A session that is lent keeps nothing of ours: no setting, no prepared statement, no
//     LISTEN, no application_name. Each statement is read-only and bounded by settings that
//     end with it, sent in the same message.
//
// One gap remains: where this process is killed (SIGKILL) in the milliseconds in
// which a statement is under way, it closes the socket and the pooler the server session.
// Nothing that a client can send prevents that.
//
// # The probe
//
// The process of the server that answers is compared with the one that the login named; a
// pooler shows another. Then a second connection asks in turn with the first who serves it.
// In session mode both always have their own. A pooler that lends gives both the session
// that was used last, so they meet, or the one that was not used for longest, so that two
// questions in a row meet two sessions. One whose sessions are all in use lets the second
// wait: if the first is served meanwhile, its session is its own.
//
// # Servers that lie
//
// The types and lengths of messages are looked at before the library reads them: one that Postgres
// would not send ends the connection with [ErrForeign]. An [Excess] ends it where too much comes before
// an answer has ended, or within some seconds that nobody asked for.
//
// # Rules of use
//
// A Conn is used by one goroutine at a time, but for Cut. The caller must close it.
package pgwire
