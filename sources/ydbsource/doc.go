// Package ydbsource watches the semaphores of YDB coordination nodes: who owns which, who waits in which
// order, and with what data. Watching acquires, creates and keeps nothing: each node has one session of ours,
// coordtop-watch, which owns nothing.
//
// It may import coord/*coord, sources, sources/kit, internal/ground/*.
//
// # What is watched
//
// No public API of YDB lists semaphores, so they are named, each with a kind. Coordination
// nodes can be found, by walking the directories of the database, now and every minute; one
// without names is described every ten seconds, which shows that it is there, and its
// settings. Names without a node hold in every node that is named. In nodes that are found
// they are shown where they exist.
//
// A name may hold ranges of numbers, job-{0..9}, and files of names (NameFile) are read again when they
// change. Names that were seen to exist are remembered (KnownNames): a node without names lists those that
// are known of it.
//
// A node is a scope, and its path is Ref.Space: it can be silent alone, and restart alone.
// Where nodes are found, the database is a scope too, without rows.
//
// # Pushes and looks
//
// Each semaphore has one watch of its owners and its data; it fires once and is armed anew by the describe
// that reads the change. So a change of owner is told at the instant of that answer (Change.After zero), and
// what comes and goes between two describes is not seen. What was sent before a ping that was answered had
// arrived by then. So an answer that comes more than sources.Promptness after the sending of the last such
// ping before the watch fired (bytes were held back on the way, this program was suspended, or much fired at
// once) is told with the stretch since then. The pings are answered by the YDB node of the stream: what the
// tablet behind it sends late is told at the instant at which it comes.
//
// The service does not push changes of the queue. The queue comes with every describe, and is polled besides:
// every Options.PollMin where it is selected, every two seconds where it is visible, every Options.PollMax
// elsewhere, also while nobody owns the semaphore and can wait for it. A waiter came or went between two
// looks, and is told so, apart from what was pushed. Queue.At is the age of the queue. A look that shows a
// change of which the watch has not notified us has it armed anew: the notice was lost, and what came and
// went since the watch was armed is told as a stretch in which it may have. While the service owes the answer
// that arms a watch, the mode says so.
//
// A semaphore that does not exist cannot be watched either, and is looked for: soon at first, then
// every second. A mutex is an ephemeral semaphore that does not exist while it is free, so
// it is seen to be taken that late, while waiters of it are served without delay. Another
// kind that is missing keeps its row (Primitive.Absent), and its creation is an event.
//
// All these looks together are at most 20 a second for a node, whatever is on screen; a
// quarter of them is kept for what is not. So a round through much that does not exist
// takes long: with 5,000 free mutexes it is four minutes, and more beside a full screen,
// until it is seen that one off the screen is taken.
//
// Arming the watches after an attach has a budget of its own: 64 at once, then 500 a
// second, what is on screen first and the rest in random order. After an outage it begins
// up to a second late, because other programs may have lost the same service.
//
// # Silence and loss
//
// The session's ping, 50 times a second on the stream that carries the pushes, is the proof of
// life. When the stream ends, the rows of the node are stale at once; the session attaches
// again by itself, and everything is read anew. A session that is over, or whose pings are
// not answered for four seconds, is replaced. A node that does not exist is an answer: what
// was in it is deleted. Where no node is watched any more, the hosts that discovery has named
// are asked, one after the other, until one answers; if none does, the connection is over, and
// the error says what is wrong with which host. So a source outlives the host in its URL, which
// only a new connection needs.
//
// # Who
//
// An owner is a session, whose number is its own as long as the node exists: its ID is the number with the
// node's creation. A session that gives it up and takes it again has another order id, so that this is no
// proclamation. Its guard is the session and the order id. Where the limit is 1 the order id is also the
// fence. The service does not report since when somebody owns, nor until when: a session lives as long as its
// stream, and its timeout after that. It does not report either why somebody does not own any more, unless
// the semaphore or the node is gone.
//
// An ephemeral semaphore whose owner has all permits is a mutex, and is shown with a limit
// of 1. Both data are shown: the owner's, which goes with the ownership, and the
// semaphore's own, which anybody may write.
package ydbsource
