// Package ydbcoord is the coord driver for the coordination nodes of YDB: mutexes,
// semaphores and elections on the service's semaphores, with a session of our own over its
// Session stream.
//
// # Primitives
//
// All kinds share the names of a coordination node, and one name can be claimed once in a
// session, whatever the kinds (coord.ErrClaimed). They are what @ydbjs/coordination makes
// of them, so both contend for the same:
//
//	mutex      an ephemeral semaphore of that name with all permits (AllPermits). It exists
//	           while somebody owns it or waits for it
//	semaphore  a semaphore that somebody created with a limit, or an ephemeral one
//	election   a semaphore that somebody created with a limit of 1 (another limit is
//	           refused); see Options.CreateElections. The leader's data is the owner's
//
// A proclamation claims the same again with other data, which the service takes for a change
// of the claim that is there: it is bound to the ownership and watches report it. The other
// convention writes the semaphore's own data, which anybody may; Options.
// MirrorProclamations does that too, and descriptions show both.
//
// # The session
//
// The service keeps a session, and all it owns, for its timeout T after the last stream of it
// broke. So it cannot be over before T after it last answered us, counted from the sending of what
// it answered: a ping of ours, any request, or the attach. That is the window. At its end the
// session is over for us, even if a stream looks alive; somebody must renew it (Session.Renew, a
// ping), as coord.Session does.
//
// Streams break, and one on which nothing is received for half a timeout is left: then the session
// attaches again, at once the first time, later with pauses that grow, each time with a higher
// sequence number and its secret key. What is not over is asked again, each request in its own way
// (see resend); watches are armed anew; what we own is read. An end that the service has pronounced
// (the session expired, the node is gone, a right is missing) is not argued with. That another has
// the session is believed when an attach with a higher number is refused as well. A node that is
// gone may be created again, and a driver that had a session there goes on asking for it.
//
// All of this assumes that the service ends no session before T has passed since it last answered
// it. The pings are answered by the YDB node of the stream. If that is cut off from the tablet and
// does not know it, or somebody ends the session on the tablet's page, we are notified at once where
// a stream gets through, else know it by the end of our window. Until then another may own what we
// believe is ours; no client can prevent that, and the fence is what covers it.
//
// Grants are guarded: the owners of what we own are watched, and a grant whose session and order id
// are not among them any more is lost, alone. So a forced deletion, of which the service sends
// owners nothing, is seen when it happens.
//
// The fence is the order id: one counter for all semaphores of a coordination node, that only grows
// as long as the node is not dropped. It says something where the limit is 1.
//
// # Requests
//
// Requests wait for the next stream instead of failing with the last one; they fail when their
// context ends or the session does. One whose answer does not come although the stream lives is
// looked for after a quarter of the timeout, each verb in its own way (see checkOverdue).
// Acquires and releases of one name are sent one after the other. A claim that is not wanted any
// more is released, also if it was granted at that instant; if the service cannot be reached now, it
// is notified at the next attach. A claim that ends while nothing is answered may be granted all
// the same, until the service ends the session: its error wraps coord.ErrUncertain, and so does that
// of Close if the service could not be notified of the end.
//
// # What others own
//
// The service takes nothing from an owner. Driver.ForceRelease has two ways round that, each
// behind an option that says what must be true of the owners: Options.ClientsUnprotected and
// Options.AllowRecreate. Neither is compared by the service. Session, order id and the node's
// incarnation are read last thing before, over a session that belongs to the node of now.
//
// # Looking
//
// Session.Follow follows any number of semaphores without a goroutine each: one watch a
// semaphore, however many read, armed again after each change, with at most 64 questions
// under way. What does not exist is looked for now and then. Waiters are not watched by the
// service: Session.Look and Follower.Look read them.
//
// # The connection
//
// Client is a database: the SDK's connection, with its discovery, balancing, credentials
// and encryption. Nodes manages coordination nodes, over the same connection.
package ydbcoord
