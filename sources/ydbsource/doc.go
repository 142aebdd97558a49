// Package ydbsource watches the semaphores of YDB coordination nodes: who owns which, who waits in which
// order, and with what data. Watching acquires, creates and keeps nothing: each node has one session of ours,
// coordtop-watch, which owns nothing.
//
// It may import coord/*coord, coord/certs, sources, sources/kit, internal/ground/*.
//
// # What is watched
//
// No public API of YDB lists semaphores, so the configuration must name them, each with a kind. Coordination nodes can
// be found by walking the directories of the database, at the start and every minute. A node without names is described
// every ten seconds, which shows its existence and its settings. Names without a node apply to every named node. In
// found nodes such a name is shown only if it exists.
//
// A name may contain ranges of numbers, such as job-{0..9}. Files of names (NameFile) are read again when they change.
// Names that were seen to exist are remembered (KnownNames), and a node without names lists those.
//
// A node is a scope, because it can be silent or restart alone. Its path is Ref.Space. If nodes are found by walking,
// the database is also a scope, without rows.
//
// # Pushes and looks
//
// Each semaphore has one watch of its owners and its data; it fires once, and the describe that reads the change arms
// it again. So a change of owner is reported at the instant of that answer (Change.After zero), and an owner that comes
// and goes between two describes is missed. When a ping is answered, everything sent before it has arrived. The answer
// may come more than sources.Promptness after the last answered ping before the watch fired was sent, because bytes
// were delayed, this program was suspended, or many watches fired at once. Then the change is reported with the stretch
// since that ping. The YDB node of the stream answers the pings, so that a late message of the tablet counts at the
// instant at which it arrives.
//
// The service does not push changes of the queue. The queue is part of every describe, and is also polled: every
// Options.PollMin if the row is selected, every two seconds if it is visible, and else every Options.PollMax, even
// while the semaphore has no owner. A waiter came or went between two looks, and is reported so, in a Change of its
// own. Queue.At is the time of the last read of the queue. If a look shows a change without a notice of the watch, the
// notice was lost. Then the watch is armed again, and the time since it was last armed is reported as a stretch in
// which changes may have been missed. About.Mode shows while an answer that arms a watch is missing.
//
// A semaphore that does not exist cannot be watched, and is polled, soon at first, then every second. A mutex is an
// ephemeral semaphore that does not exist while it is free. Its take-over from free is therefore seen that late, but
// one by a waiter without delay. A missing semaphore of another kind keeps its row (Primitive.Absent), and its creation
// is an event.
//
// All these looks together are at most 20 a second for a node. A quarter of them is for rows off the screen. So a round
// through many missing semaphores is slow: with 5,000 free mutexes it may take four minutes, or more with a full
// screen, until the source sees that one off the screen is owned.
//
// Arming the watches after an attach has a budget of its own: 64 at once, then 500 a second, rows on screen first and
// the rest in random order. After an outage it begins with a random delay of at most a second, because other programs
// may have lost the same service.
//
// # Silence and loss
//
// The session's ping, 50 times a second on the stream that carries the pushes, is the proof of life. When the stream
// ends, the rows of the node are stale at once; the session attaches again by itself, and everything is read again. A
// session that is over, or whose pings are not answered for four seconds, is replaced. If the service answers that the
// node does not exist, everything in it counts as deleted. If no node is watched any more, the source asks the hosts
// that discovery has named, one after the other, until one answers. If none does, the connection ends with an error
// about these hosts. So a source works without the host in its URL, which only a new connection needs.
//
// # Who
//
// An owner is a session. Its number is unique while the node exists, so the ID is the number with the node's creation.
// A session that releases the semaphore and acquires it again has another order id, which distinguishes this from a
// proclamation. The guard is the session and the order id. If the limit is 1, the order id is also the fence. The
// service reports neither the beginning nor the end of an ownership: a session lives as long as its stream, and its
// timeout after that. Nor does it report why an ownership has ended, unless the semaphore or the node is gone.
//
// An ephemeral semaphore whose owner has all permits is a mutex, and is shown with a limit of 1. Both data are shown:
// the owner's, which end with the ownership, and the semaphore's own, which anybody may write.
package ydbsource
