// Package pgcoord is the coord driver for the advisory locks of a Postgres database: mutexes, exclusive or shared, and
// elections, on the same keys as other programs.
//
// It may import coord, coord/internal/lifetime, internal/ground/*.
//
// # Keys
//
// A name made of numbers is the key itself: "4242" is pg_advisory_lock(4242), "17:-4" is pg_advisory_lock(17, -4). Any
// other name has a bigint key that a [Scheme] computes. So our candidates contend for one lock with those of
// @platformatic/leader (lock: 4242, repeated tries on a session-level lock). Keys are per database; a mutex and an
// election of one name are one lock.
//
// # One connection a claim
//
// A session-level lock belongs to a connection. If a connection takes it twice, it must release it twice. So each claim
// has a connection of its own, which is closed once the server has confirmed that the lock was ours and is released.
// One connection that owns nothing is kept for the next claim. A waiting claim is in the server's queue and has the
// lock a millisecond after it is free; with [Options].Poll it tries repeatedly instead. When a claim stops waiting, the
// server cancels its statement; if there is no answer, its process is ended, see below.
//
// Trust in a grant runs from the sending of the last answered statement on its connection. That is the query for the
// fence after every lock, or a renewal, which asks for the pid of the server's process. The transaction id that serves
// as the fence grows for the life of a cluster; an asynchronous failover may set it back.
//
// # The window
//
// A server releases a lock when its owner's connection ends. If the owner's kernel closes the connection, that is at
// once. If the connection was cut, the server notices by TCP keepalives, which every session may set for itself. We set
// 5 s of silence and 3 probes 2 s apart, together 11 s from the last packet from us. We set tcp_user_timeout to the
// same, because it overrides both the count of probes and the number of retransmissions. That packet was sent no
// earlier than the answered query. So the window is 11 s from the sending of the last answered query, or less if the
// server's system reports less (a Unix socket has no keepalives, and cannot be cut). Another TTL sets other keepalives,
// in whole seconds and at least 2 s at the server. A renewal is sent every fifth of the window, before the server would
// send a probe.
//
// If nobody renews a grant until its window ends, because the program is frozen or has abandoned it, the driver closes
// its connection. When the server ends a session, we notice that at once, because a goroutine always reads from the
// connection.
//
// # What a lost connection leaves behind
//
// A connection that ends without notice from the server, by a reset, in silence or because we cut it, may live on
// there: a proxy or an address translation can close one side of it and answer keepalives on the other. Its process
// would then still own the lock or be in the queue. So we end the process over a new connection (pg_terminate_backend,
// which every role may call for its own sessions). The statement compares its number and the start of its backend. This
// is done when a lease has been lost or has expired, never before; when a claim ends; and when the session closes. With
// a pooler, the process may serve another client by now, so that we only check whether it is gone. If it cannot be
// ended, the error of the claim, or of Close, wraps coord.ErrUncertain and names the process as the server does. The
// process of an abandoned grant is not ended, because its connection is the lease; that connection is only closed when
// the window ends.
//
// Postgres cannot promise more. If our connection is cut, the server can grant the lock to another before our window
// ends, because it restarts or an administrator ends the session. A failover to a standby forgets all locks. If a proxy
// or an address translation closes only its connection to the server, the server grants the lock to another while our
// connection stands. We notice that at the next renewal if the proxy then closes ours, or at the end of the window if
// it is silent. The source warns if the server sees us at another address than our own, which is a sign of a proxy or a
// translation. The fence covers these cases.
//
// # Poolers and standbys
//
// A pooler that lends server sessions for a transaction or a statement would give one lock to everybody. Each
// connection detects that before it sets anything (see [coordtop/internal/ground/pgwire]), and refuses the pooler. If
// another process answers a renewal, the grant is lost. A pooler in session mode works, but we cannot set its
// keepalives with us, and it must have a session for each claim and one more for reading. A standby is refused, because
// its locks are not those of the primary. If several hosts are named, the primary among them is used.
//
// # Names and announcements
//
// application_name is the identity, then | and the data ([ApplicationName]), because it is the only text of a session
// that every role can read. It has room for 63 bytes of printable ASCII: longer data is refused with
// coord.ErrDataTooLong, and other bytes with coord.ErrInvalid, before anything is sent. Each change is announced on the
// channel coordtop ([Announcement]), so that others read at once. Identities are pid and start of the server's process
// ([OwnerID]).
//
// # Channels
//
// While we lead, the connection of the election's lock listens to [Options].Channels. Handlers have a bounded queue of
// their own. A slow handler delays no renewal; it loses the oldest notifications, and the next one reports how many.
// [Driver.Notify] sends to a channel, with or without a session.
//
// # Force
//
// A lock belongs to its session, so [Driver.ForceRelease] ends the session of an owner, or
// cancels the statement of a waiter. The server compares a [Guard], which the source shows, and
// acts in one statement. It cannot distinguish an owner that released the lock and took it again.
//
// # Rights
//
// Only the right to connect is needed. Describe needs pg_monitor to show the sessions of other roles. Ending them also
// needs pg_signal_backend; only a superuser can end those of superusers.
package pgcoord
