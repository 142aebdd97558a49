// Package ydbcoord is the coord driver for the coordination nodes of YDB: mutexes,
// semaphores and elections on the service's semaphores, with a session of our own over its
// Session stream.
//
// It may import coord, coord/certs, coord/internal/lifetime, internal/ground/*.
//
// # Primitives
//
// All kinds share the names of a coordination node, so that a session can claim a name only once, for any kind
// (coord.ErrClaimed). They have the same form as in @ydbjs/coordination, so that both contend for the same primitives:
//
//	mutex      an ephemeral semaphore of that name with all permits (AllPermits). It exists
//	           while somebody owns it or waits for it
//	semaphore  a semaphore that somebody created with a limit, or an ephemeral one
//	election   a semaphore that somebody created with a limit of 1 (another limit is
//	           refused); see Options.CreateElections. The leader's data is the owner's
//
// A proclamation claims the same again with other data, which the service treats as a change of the existing claim. It
// is bound to the ownership, and watches report it. By another convention a leader writes the semaphore's own data,
// which anybody may do; with Options.MirrorProclamations the driver does that as well. Descriptions show both.
//
// # The session
//
// The service keeps a session, and all it owns, for its timeout T after its last stream broke. So the session lasts at
// least T from the sending of the last message that the service answered: a ping of ours, any request, or the attach.
// That is the window. At its end the session is over for us, even if a stream looks alive. The caller must renew it
// (Session.Renew, a ping), as coord.Session does.
//
// When a stream breaks, or nothing is received on it for half a timeout, the session attaches again, with a higher
// sequence number and its secret key. The first try is immediate; the pauses between further tries grow. Open requests
// are sent again, each in its own way (see resend); watches are armed again; our grants are read. If the service
// reports that the session has expired, that the node is gone or that a right is missing, the session ends. If it
// reports that another has the session, the session ends when an attach with a higher number is refused as well. A node
// that is gone may be created again, so that a driver that had a session there tries again to open one.
//
// All of this assumes that the service ends no session before T has passed since its last answer. But the YDB node of
// the stream answers the pings, not the tablet. That node may be cut off from the tablet without knowing it, or
// somebody may end the session on the tablet's page. If a stream gets through, we are notified at once; else our
// session ends with its window. Until then another may own what we believe to be ours. No client can prevent that, but
// a resource that checks the fence rejects us.
//
// Each semaphore that we own is watched. When our session and order id are not among its owners any more, that grant
// alone is lost. So we notice a forced deletion at once, although the service does not notify owners of it.
//
// The fence is the order id: a counter shared by all semaphores of a coordination node, which only grows until the node
// is dropped. It is a fence only if the limit is 1.
//
// # Requests
//
// Requests do not fail with their stream but wait for the next one; they fail when their context or the session ends.
// If a live stream brings no answer to a request for a quarter of the timeout, the request is checked, each verb in its
// own way (see checkOverdue). Acquires and releases of one name are sent one after the other. A claim whose caller has
// given up is released, even if it was granted at that instant. If the service cannot be reached now, the release is
// sent at the next attach. A claim that ends while the service does not answer may still be granted until the service
// ends the session. Its error then wraps coord.ErrUncertain, and so does the error of Close if the service could not be
// notified of the end.
//
// # What others own
//
// The service has no request that ends somebody else's ownership. Driver.ForceRelease has two ways round that, each
// with an option that documents its condition: Options.ClientsUnprotected and Options.AllowRecreate. The service
// compares nothing in either. Session, order id and the node's incarnation are read just before, over a session of the
// present incarnation.
//
// # Looking
//
// Session.Follow follows any number of semaphores without a goroutine for each. It keeps one watch per semaphore, even
// with several followers, and arms it again after each change, with at most 64 requests under way. A semaphore that
// does not exist is read again after pauses of up to a second. The service does not watch waiters: Session.Look and
// Follower.Look read them.
//
// # The connection
//
// Client is the connection to a database, made by the SDK with its discovery, balancing, credentials and encryption.
// Nodes manages coordination nodes, over the same connection.
package ydbcoord
