// Package pgcoord is the coord driver for the advisory locks of a Postgres database:
// mutexes, exclusive or shared, and elections, on the keys that other programs use too.
//
// It may import coord, coord/internal/lifetime, internal/ground/*.
//
// # Keys
//
// A name made of numbers is the key itself: "4242" is pg_advisory_lock(4242), "17:-4" is
// pg_advisory_lock(17, -4). Any other name has a bigint key that a [Scheme] computes. So a
// candidate of ours and one of @platformatic/leader (lock: 4242, a try on a session-level
// lock, repeated) contend for one lock. Keys are per database; a mutex and an election of
// one name are one lock.
//
// # One connection a claim
//
// A session-level lock belongs to a connection, and if it is taken twice on one it must be released
// twice. So each claim has a connection of its own, which is closed once the lock is
// released (and the server has confirmed that it was ours); one connection that owns nothing is
// kept for the next claim. A waiting claim stands in the server's queue and has the lock a
// millisecond after it is free; with [Options].Poll it tries again and again instead. A claim
// that stops waiting has the server cancel its statement; if there is no answer, its process is
// ended, see below.
//
// Trust in a grant runs from the sending of the last statement that its connection
// answered: of the query for the fence that follows every lock, or of a renewal, which
// asks for the pid of the server's process. The transaction id that serves as the fence
// grows for the life of a cluster; an asynchronous failover may set it back.
//
// # The window
//
// A server gives a lock away when its owner's connection ends: at once if the owner's kernel
// closes it. A server whose connection was cut finds that out by TCP keepalives, which every session may
// set for itself. We set 5 s of silence and 3 probes 2 s apart, which makes 11 s from the last packet
// from us, and tcp_user_timeout to the same, because that overrides both the count of probes
// and the number of retransmissions. That packet was sent no earlier than the query that was
// answered. So the window is 11 s from the sending of the last answered query, or less if the
// server's system reports less (a Unix socket has no keepalives, and cannot be cut). Another TTL
// sets other keepalives, in whole seconds and at least 2 s at the server. A renewal
// comes every fifth of the window, before the server would send a probe.
//
// A grant that nobody renews until its window ends, because the program is frozen or has
// abandoned it, is closed by the driver then. When the server ends a session, we notice that
// at once, because a goroutine always reads from the connection.
//
// # What a lost connection leaves behind
//
// A connection that ends without notice from the server, by a reset, in silence or because we cut it,
// may live on there: a proxy or an address translation can close one side of it and answer keepalives
// on the other. Its process would go on owning the lock or standing in the queue. So we end the process over
// a new connection (pg_terminate_backend, which every role may call for its own sessions). The statement compares
// its number and the start of its backend. This is done when a lease has been lost or
// has expired, never before; when a claim ends; and when the session closes. Behind a pooler the
// process may serve another client by now, so we only check whether it is gone. If it cannot be ended, the error
// of the claim, or of Close, wraps coord.ErrUncertain and names the process as the server does.
// The process of an abandoned grant is left alone: its connection is the lease, and is only closed when the window
// ends.
//
// Postgres cannot promise more. If our connection is cut, the server can give the lock
// away before our window ends, when it restarts or an administrator ends the session. A failover
// to a standby forgets all locks. And if a proxy, or an address translation, closes only its
// connection to the server, the server gives the lock away while our connection stands: we notice that with
// the next renewal if the proxy then closes ours, and with the end of the window if it is silent. The
// source warns if the server sees us at another address than our own, which is a
// sign of either. The fence covers these cases.
//
// # Poolers and standbys
//
// A pooler that lends server sessions for a transaction or a statement would give one lock to
// everybody. Each connection finds that out before it sets anything (see
// [coordtop/internal/ground/pgwire]), and refuses the pooler. A renewal that another process answers is a loss. A
// pooler in session mode works, but its keepalives with us are its own, and it must have a
// session for each claim and one more for reading. A standby's locks are no locks of the primary:
// it is refused, unless several hosts are named: then the primary among them is used.
//
// # Names and announcements
//
// application_name is the identity, then | and the data ([ApplicationName]); it is the one thing about
// a session that every role can read. It has room for 63 bytes of printable ASCII: longer data is
// refused with coord.ErrDataTooLong, and other bytes with coord.ErrInvalid, before anything is sent. Each
// change is announced on the channel coordtop ([Announcement]), so that others read at once. Identities
// are pid and start of the server's process ([OwnerID]).
//
// # Channels
//
// While we lead, the connection of the election's lock listens to [Options].Channels. Handlers run
// behind a bounded queue of their own: a slow one delays no renewal; it loses its oldest
// notifications, and the next one reports their number. [Driver.Notify] sends to a channel, with or without a session.
//
// # Force
//
// A lock belongs to its session, so [Driver.ForceRelease] ends the session of an owner, or
// cancels the statement of a waiter. The server compares a [Guard], which the source shows, and
// acts in one statement. It cannot distinguish an owner that released the lock and took it again.
//
// # Rights
//
// None but to connect. To see the sessions of other roles in Describe, pg_monitor; to end them,
// pg_signal_backend too, and to end those of superusers, to be one.
package pgcoord
