// Package ydbcoord is the coord driver for the coordination nodes of YDB: mutexes,
// semaphores and elections on the service's semaphores, with a session of our own over its
// Session stream.
//
// It may import coord, coord/internal/lifetime, internal/ground/*.
//
// # Primitives
//
// All kinds share the names of a coordination node, and one name can be claimed once in a
// session, whatever the kinds (coord.ErrClaimed). Their form is that of @ydbjs/coordination,
// so both contend for the same primitives:
//
//	mutex      an ephemeral semaphore of that name with all permits (AllPermits). It exists
//	           while somebody owns it or waits for it
//	semaphore  a semaphore that somebody created with a limit, or an ephemeral one
//	election   a semaphore that somebody created with a limit of 1 (another limit is
//	           refused); see Options.CreateElections. The leader's data is the owner's
//
// A proclamation claims the same again with other data, which the service understands as a change
// of the existing claim: it is bound to the ownership and watches report it. Another
// convention writes the semaphore's own data, which anybody may do; with
// Options.MirrorProclamations the driver does that too. Descriptions show both.
//
// # The session
//
// The service keeps a session, and all it owns, for its timeout T after its last stream
// broke. So the session cannot be over before T after the service last answered us, counted from the sending of the
// message that was answered: a ping of ours, any request, or the attach. That is the window. At its end the
// session is over for us, even if a stream looks alive. The caller must renew it (Session.Renew, a
// ping), as coord.Session does.
//
// When a stream breaks, or nothing is received on it for half a timeout, the session
// attaches again: at once the first time, later with pauses that grow, each time with a higher
// sequence number and its secret key. Requests that are not over are sent again, each in its own way
// (see resend); watches are armed anew; our grants are read. If the service reports that the session has
// expired, that the node is gone or that a right is missing, the session ends. If it reports that another has
// the session, the session ends when an attach with a higher number is refused as well. A node that is
// gone may be created again, and a driver that had a session there goes on trying to open one.
//
// All of this assumes that the service ends no session before T has passed since it last answered
// it. The pings are answered by the YDB node of the stream. If that node is cut off from the tablet without
// knowing it, or somebody ends the session on the tablet's page, we are notified at once if
// a stream gets through, else we end at the end of our window. Until then another may own what we
// believe to be ours. No client can prevent that; a resource that checks the fence rejects us.
//
// Grants are guarded: each semaphore that we own is watched, and when our session and order id are not among its
// owners any more, that grant alone is lost. So we notice a forced deletion when it happens, although the service
// does not notify owners of it.
//
// The fence is the order id: one counter for all semaphores of a coordination node, which only grows
// as long as the node is not dropped. It means something only where the limit is 1.
//
// # Requests
//
// Requests wait for the next stream instead of failing with the last one; they fail when their
// context ends or the session does. A request without an answer on a stream that lives is
// checked after a quarter of the timeout, each verb in its own way (see checkOverdue).
// Acquires and releases of one name are sent one after the other. A claim whose caller has given up is
// released, also if it was granted at that instant; if the service cannot be reached now, the release
// is sent at the next attach. A claim that ends while the service does not answer may be granted all
// the same, until the service ends the session: its error wraps coord.ErrUncertain, and so does that
// of Close if the service could not be notified of the end.
//
// # What others own
//
// The service has no request that ends somebody else's ownership. Driver.ForceRelease has two ways round that, each
// with an option that describes its condition: Options.ClientsUnprotected and
// Options.AllowRecreate. In neither does the service compare anything. Session, order id and the node's
// incarnation are read just before, over a session of the present incarnation.
//
// # Looking
//
// Session.Follow follows any number of semaphores without a goroutine each: it keeps one watch a
// semaphore, however many follow it, and arms it again after each change, with at most 64 requests
// under way. A semaphore that does not exist is read again after pauses of up to a second. The service does not watch
// waiters:
// Session.Look and Follower.Look read them.
//
// # The connection
//
// Client is a database: the SDK's connection, with its discovery, balancing, credentials
// and encryption. Nodes manages coordination nodes, over the same connection.
package ydbcoord
