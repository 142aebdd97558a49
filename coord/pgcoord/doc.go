// Package pgcoord is the coord driver for the advisory locks of a Postgres database:
// mutexes, exclusive or shared, and elections, on the keys that other programs use too.
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
// A session-level lock belongs to a connection, and taken twice on one it must be given
// back twice. So each claim has a connection of its own, which is closed once the lock was
// given back (and the server has said that it was ours to give); one that owns nothing is
// kept for the next claim. A waiting claim stands in the server's queue and has the lock a
// millisecond after it is free; with [Options].Poll it tries again and again instead. A claim
// that stops waiting has the server cancel its statement; where no answer comes, its process is
// ended, see below.
//
// Trust in a grant runs from the sending of the last statement that its connection
// answered: of the query for the fence that follows every lock, or of a renewal, which
// asks for the pid of the server's process. The transaction id that serves as the fence
// grows for the life of a cluster; an asynchronous failover may set it back.
//
// # The window
//
// A server gives a lock away when its owner's connection ends: at once where the owner's kernel
// tells it. Where the connection was cut it finds out by TCP keepalives, which every session may
// set for itself: we set 5 s of silence and 3 questions 2 s apart, so 11 s after the last word
// from us, and tcp_user_timeout to the same, because that replaces both the count of questions
// and the number of retransmissions. That word was sent no earlier than the question it
// answered. Hence the window: 11 s from the sending of the last answered question, less if the
// server's system reports less (a Unix socket has none of this, and cannot be cut). Wishes for
// another TTL set other keepalives, in whole seconds and at least 2 s at the server. A renewal
// comes every fifth of the window, before the server would ask by itself.
//
// A grant that nobody renews until its window ends, because the program is frozen or has
// abandoned it, is closed by the driver then. The loss of a session that the server ends is seen
// when it happens, because somebody always reads from the connection.
//
// # What a lost connection leaves behind
//
// A connection that ends without a word of the server, by a reset, in silence or because it is cut,
// may live on there: a proxy or an address translation can close one side of it and answer keepalives
// on the other. Its process would own the lock, or stand in the queue, for nobody. So it is ended over
// a new connection (pg_terminate_backend, which every role may call for its own sessions), by its
// number and the start of its backend compared in the same statement: when a lease has been lost or
// has expired, never before; when a claim ends; and when the session closes. Behind a pooler the
// process may serve another client by now and is only looked for. Where it cannot be ended, the error
// of the claim, or of Close, wraps coord.ErrUncertain and names the process as the server does.
// What is abandoned is left: the connection is the lease, and closing it when the window ends is all
// that is done.
//
// Postgres cannot promise more: behind a connection that is cut, the server can give the lock
// away before our window ends, when it restarts or an administrator ends the session; a failover
// to a standby forgets all locks. And a proxy, or an address translation, that closes only its
// connection to the server has the lock given away while our connection stands: we notice with
// the next renewal if it then closes ours, and with the end of the window if it is silent. The
// source's warnings say where the server sees us at another address than our own, which is a
// sign of either. The fence is for that.
//
// # Poolers and standbys
//
// A pooler that lends server sessions for a transaction or a statement would give one lock to
// everybody: each connection finds out before it sets anything (see
// [coordtop/internal/ground/pgwire]) and refuses. A renewal that another process answers is a loss. A
// pooler in session mode will do, but its keepalives with us are its own, and it must have a
// session for each claim and one more for reading. A standby's locks are no locks of the primary:
// it is refused, unless several hosts are named, of which the primary is taken.
//
// # Names and announcements
//
// application_name is the identity, then | and the data ([ApplicationName]); it is the one thing about
// a session that every role can read. It has room for 63 bytes of printable ASCII: longer data is
// refused with coord.ErrDataTooLong, and other bytes with coord.ErrInvalid, before anything is sent. What
// happens is announced on the channel coordtop ([Announcement]), so that others read at once. Identities
// are pid and start of the server's process ([OwnerID]).
//
// # Channels
//
// While an election is won its connection listens to [Options].Channels. Handlers run
// behind a bounded queue of their own: a slow one delays no renewal, it loses its oldest
// notifications and learns how many. [Driver.Notify] sends to a channel, from anybody.
//
// # Force
//
// A lock belongs to its session, so [Driver.ForceRelease] ends the session of an owner, or
// cancels the statement of a waiter. The server compares a [Guard], which the source shows, and
// acts in one statement. An owner that released the lock and took it again is not told apart.
//
// # Rights
//
// None but to connect. To see the sessions of other roles in Describe, pg_monitor; to end them,
// pg_signal_backend too, and to end those of superusers, to be one.
package pgcoord
