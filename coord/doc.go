// Package coord owns things together with others: mutexes, semaphores and elections
// on a coordination service, behind a small Driver.
//
//	for s, err := range coord.Sessions(ctx, driver, coord.SessionOptions{TTL: 10 * time.Second}) {
//		if err != nil {
//			return err // refused for good
//		}
//		lease, err := s.Mutex("nightly", coord.MutexOptions{}).Lock(ctx)
//		if err != nil {
//			continue
//		}
//		work(lease.Context()) // ends before anybody else can have it
//		lease.Release(ctx)
//	}
//
// A Session is a presence on the service; a Lease is a grant and the time it may be
// trusted; a Term is the lease of a leader. Candidate and Lead campaign again and
// again over as many sessions as that takes.
//
// # What is promised
//
// A lease ends for its owner before the service can give it to another. That is: at
// no instant are there two processes whose Lease.Check is nil for one exclusive
// primitive. It rests on these assumptions:
//
//   - The clocks of owner and service run at nearly the same rate. The time that they show
//     does not matter; no remote clock is ever read. The margin (SessionOptions.Margin,
//     by default a twentieth of the window) pays for the difference and for a
//     scheduler that wakes us late: 5 % is far more than real clocks drift apart. A
//     service that keeps ends as wall-clock times (Redis does) breaks this when its
//     clock is set forward: then every key is over early. Let its clock be slewed.
//   - The service does not lie: what it granted for a time it does not grant to
//     another within that time. A failover can make a liar of it; see below.
//   - Where the service ends a grant with its connection (Postgres, dflockd), what stands
//     between us and it closes both ends of the connection or neither. A proxy or an address
//     translation that drops its side towards the service and keeps ours makes the service
//     give away what we trust until the next renewal fails, at most for the window.
//   - What was sent arrives within 15 minutes or never. Redis obeys a command that a link held
//     back, or that a server which stood still had not read, whenever it arrives; a claim is
//     given back before it is called a miss only where the driver can make sure that nothing
//     of it is left on the way, see ErrUncertain.
//   - Work stops when its context ends. A process that is stopped between checking
//     the context and writing to a resource writes late all the same; no lease can
//     prevent that, a fence can.
//
// # The life of a lease
//
//	             Asked                                                Asked+Valid
//	               |<------------------------ Valid ----------------------->|
//	               |                                             |<-margin->|
//	---- asking ---+--- answer ============ trusted =============|          |---> the service may
//	               |      |                                      |                give it away
//	               |      +-- Acquire returns                    +-- Context ends: ErrExpired
//	               |
//	               |<---- RenewIn ---->+--- answer ===== trusted ========= ... ==|
//	                                   Asked again: everything counts anew from here
//
//	asking ----> trusted ----> lost      the service said, or closed, so: ErrLost
//	  |           |    ^ |---> expired   our own deadline passed first:   ErrExpired
//	  |           |    | |---> released  Release, Resign, Abandon:        ErrReleased
//	  |        renew --+ +---> closed    the session was closed by us:    ErrClosed
//	  v
//	not acquired (nothing is left behind)
//
// An ended lease stays ended. Its end is one event: Context ends, its cause says why,
// and from then on Check returns that cause.
//
// # Trust
//
// Trust runs from the sending of the last request whose answer proves that we own it
// (Window.Asked), because the service's clock started somewhere between the sending
// and the answer and only the sending is sure not to be later. It ends at
// Asked + Valid - Margin, and that instant itself is over already.
//
// A timer of the lease's own ends its context then. Requests under way have no say in
// it: a renewal that hangs delays nothing, and its answer, arriving after the end,
// revives nothing. Before the end renewals that fail are repeated with jittered pauses,
// each try with half of the time that is left. A verdict of the service (an error that
// wraps ErrLost) is not argued with: the lease ends at once. A program that sees by another
// way that it may have lost what it owns calls Lease.Confirm, which renews now, paced; what it
// saw ends nothing by itself.
//
// Timers are late in a process that was stopped or starved. Check therefore compares
// clocks itself, at each call, and ends the context if it finds that trust is over.
// Code that is about to do what must not be done twice asks Check right before.
//
// Time is monotonic time plus the time the machine was suspended. On Linux the latter
// is what CLOCK_BOOTTIME has more than CLOCK_MONOTONIC; elsewhere it is what the wall
// clock gained on the monotonic clock, so that setting the wall clock forward may end
// trust early, and setting it back may hide a suspend of that length.
//
// A claim that waited was asked for long before it was granted. If its window has run
// until a renewal is due (or out), the grant is renewed once before Acquire returns,
// and only an answer to that makes it a lease.
//
// # Who is renewed
//
// Services renew either the session, and with it all its grants (YDB: Caps.OneFate),
// or each grant by itself (the others). In the first case a session that is not
// renewed ends, and every lease under it in the same instant; in the second a session
// ends only by Close or Abandon, and a grant that is lost ends its lease alone. Nothing
// else differs for users of this package.
//
// # Fencing
//
// Lease.Fence is a number issued with the grant that only grows. Sent along with every
// write, it lets the resource refuse a client with a smaller number than it has
// seen, which covers what no lease can: the write that was under way when the lease
// ended. It is worth something only if the resource checks it, and only among grants
// of one incarnation of the service:
//
//	YDB       order id of the grant. Grows for as long as the coordination node lives;
//	          a node dropped and created again starts anew. Limit 1 only.
//	Redis     0: none.
//	Postgres  transaction id read just after the lock was granted. Grows within one
//	          timeline; after a failover that lost transactions it may repeat.
//	dflockd   from version 2.1 on, else 0. Starts anew with the server.
//
// # What each backend guarantees
//
//	YDB       Replicated with consensus: a failover loses nothing. Waiters are served in
//	          order.
//	Redis     Exact on one server. Replication is asynchronous: a failover may forget a
//	          grant, and then there are two owners until the first is notified by its next
//	          renewal or its window ends. The same holds for a restart without (or with
//	          late) persistence, FLUSHALL, and eviction. No queue: waiters poll, any of
//	          them may win.
//	Postgres  Advisory locks live in the memory of the primary: they end with the
//	          connection, are not replicated, and a promoted standby knows none of
//	          them. An old primary that still runs, cut off, keeps its own. The window is
//	          that of the connection's keepalives. Waiters are served in order, shared
//	          ones together. Transaction poolers make sessions meaningless and are refused.
//	dflockd   One server's memory: a restart forgets everything. Waiters are served in
//	          order; the lease ends with the connection or its TTL. The window is the TTL, or
//	          the server's idle cut (23 s) if that is shorter.
//
// Where forgetting is possible and matters, wait for as long as the longest window after
// a failover, or use the fence.
//
// # Words
//
// In this package and its drivers each word has one meaning:
//
//	claim      what a caller asks for; attempt: one driver's work on it; place: one in a queue
//	grant      what the service gave; lease: a grant and the time it may be trusted
//	window     how long the service surely counts us as the owner, from Asked on; margin: the
//	           end of it that we do not use; trust: what is left
//	renew      ask the service to confirm a grant or a session; keeper: what does it in time
//	confirm    learn from an answer that something is ours, or still is
//	release    give back and say so; abandon: let it run out; close: end a session
//	describe   read one primitive now; watch: read each later state; observe: follow leaders
//	publish    change the data of a grant; proclaim: that of a leader
//	lost       the service's verdict; expired: ours; see The life of a lease
//	passing    an error that may be over by itself; transient: one that was repeated already
//	uncertain  sent, and not known to be done; leftover: what such a claim may have left
//	connection one network connection with the goroutine that owns it; stream: one call on it
//	status     what is known of a connection; state: what is known of a primitive
//
// # Contract
//
//   - One claim per kind and name in a session, from asking to the end of the lease. A
//     second gets ErrClaimed at once, on every backend. A name whose lease has ended and
//     is being given back is waited for.
//   - A waiting claim that is cancelled leaves nothing behind where the service can be
//     reached; a grant that races the cancel is given back.
//   - A waiting claim outlives what passes (Passing says what does): it is made again, with
//     pauses, while its Wait and its session last, and SessionOptions.OnTrouble receives why. A
//     trouble that a person must mend ends it at once, and so does any error of a try. A place in a
//     queue that is lost that way is not had again: the claim goes to the end of the queue.
//   - No answer is a miss that may still be a win. Where it cannot be learned whether a claim
//     was granted, the error wraps ErrUncertain, that of the claim or that of Close.
//   - Release and Close end the context first and send the request also if the caller's has ended.
//   - A lease that expired is given back too, as well as that goes and not before its
//     margin has passed: a renewal whose answer got lost may have prolonged it for
//     nobody.
//   - Close and Abandon return when no goroutine of the session is left. Drivers return
//     from a request soon after its context ends; that is what joining relies on.
//   - A panic in a goroutine of a session ends the process, unless the context of its
//     opening says who handles it (package spawn). Then what the goroutine kept is not trusted
//     on: its lease or its session ends at once, lost, and is given back.
//   - Every retry has a pause that grows with jitter. No error's text is read.
//   - Results are never ambiguous: a lease, or ok is false, or an error that wraps one of
//     the sentinels, a context's error, or what the driver said.
package coord
