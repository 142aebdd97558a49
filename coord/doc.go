// Package coord owns things together with others: mutexes, semaphores and elections
// on a coordination service, behind a small Driver.
//
// It may import internal/ground/*.
//
//	err := coord.WithLock(ctx, driver, coord.SessionOptions{}, "nightly", coord.MutexOptions{},
//		func(ctx context.Context, lease *coord.Lease) error {
//			return work(ctx) // ctx ends before anybody else can have the mutex
//		})
//
// A program that goes on after a lost session opens sessions itself:
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
// A whole program, for each backend, is in testdata/outside.
//
// A Session is a presence on the service; a Lease is a grant and the time it may be
// trusted; a Term is the lease of a leader. Candidate and Lead campaign again and
// again over as many sessions as that takes.
//
// # What is promised
//
// A lease ends for its owner before the service can give it to another. At no instant are there two processes whose
// Lease.Check is nil for one exclusive primitive. It rests on these assumptions:
//
//   - The clocks of owner and service run at nearly the same rate. The time that they show does not matter; no remote
//     clock is ever read. The margin (SessionOptions.Margin, by default a twentieth of the window) covers the
//     difference of the rates and a scheduler that wakes us late: 5 % is far more than real clocks drift apart. A
//     service that stores ends as wall-clock times (as Redis does) breaks this when its clock is set forward, because
//     every key then expires early. Its clock must be slewed.
//   - If the service grants a primitive for a time, it does not grant it to another owner within that time. A failover
//     can break this; see below.
//   - If the service ends a grant with its connection (Postgres, dflockd), everything between us and it closes both
//     ends of the connection or neither. A proxy or an address translation may close only its side towards the service.
//     The service then gives our grant to another while we trust it until the next renewal fails, at most for the
//     window.
//   - A request arrives within 15 minutes or never. Redis executes a command whenever it arrives, even if the network
//     delayed it or a stopped server had not read it. A driver reports a miss only if none of the claim's requests can
//     still arrive; otherwise its error wraps ErrUncertain.
//   - Work stops when its context ends. A process that is stopped between checking the context and writing to a
//     resource still writes late. No lease can prevent that; a fence can.
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
//	                                   Asked again: all times start again here
//
//	asking ----> trusted ----> lost      the service said, or closed, so: ErrLost
//	  |           |    ^ |---> expired   our own deadline passed first:   ErrExpired
//	  |           |    | |---> released  Release, Resign, Abandon:        ErrReleased
//	  |        renew --+ +---> closed    the session was closed by us:    ErrClosed
//	  v
//	not acquired (nothing is left behind)
//
// An ended lease stays ended. When it ends, Context ends with the cause, and from then on Check returns that cause.
//
// # Trust
//
// Trust runs from the sending of the last request whose answer proves that we own the primitive (Window.Asked). The
// service's clock started somewhere between the sending and the answer, and only the sending is sure not to be later.
// Trust ends at Asked + Valid - Margin; at that instant it is over.
//
// A timer of the lease ends its context then, whatever requests are under way: a renewal that hangs delays nothing, and
// an answer that arrives after the end revives nothing. Before the end, renewals that fail are repeated with jittered
// pauses, each try with half of the remaining time. If the service reports the loss (an error that wraps ErrLost), the
// lease ends at once. A program that learns in another way that it may have lost the lease calls Lease.Confirm, which
// renews at once but not too often. The call alone does not end the lease.
//
// Timers are late in a process that was stopped or starved. Check therefore reads the clock at each call, and ends the
// context if it finds that trust is over. Code that must not do something twice calls Check just before.
//
// Time is monotonic time plus the time the machine was suspended. On Linux the latter is the difference between
// CLOCK_BOOTTIME and CLOCK_MONOTONIC. Elsewhere it is the time that the wall clock gained on the monotonic clock.
// Setting the wall clock forward may therefore end trust early, and setting it back may hide a suspend of that length.
//
// A claim that waited was sent long before it was granted. If a renewal is already due, or the window is over, the
// grant is renewed once before Acquire returns, and only an answer to that makes it a lease.
//
// # Who is renewed
//
// Services renew either the session, and with it all its grants (YDB: Caps.OneFate), or each grant by itself (the
// others). In the first case a session that is not renewed ends together with all its leases. In the second case a
// session ends only by Close or Abandon, and a lost grant ends only its own lease. Users of this package see no other
// difference.
//
// # Fencing
//
// Lease.Fence is a number issued with the grant that only grows. A program sends it with every write, and the resource
// refuses a number smaller than one it has seen. That also stops a write that was under way when the lease ended, which
// no lease can do. The fence works only if the resource checks it, and only among grants of one incarnation of the
// service:
//
//	YDB       order id of the grant. Grows for as long as the coordination node lives;
//	          dropping the node and creating it again resets it. Limit 1 only.
//	Redis     0: none.
//	Postgres  transaction id read just after the lock was granted. Grows within one
//	          timeline; after a failover that lost transactions it may repeat.
//	dflockd   from version 2.1 on, else 0. A restart of the server begins a new count.
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
// If the service may forget a grant and that matters, wait for the longest window after a failover, or use the fence.
//
// # Words
//
// In this package and its drivers each word has one meaning:
//
//	claim      a caller's wish for a primitive; attempt: a driver's work on it; place: one in a queue
//	grant      the service's positive answer; lease: a grant and the time it may be trusted
//	window     how long the service surely counts us as the owner, from Asked on; margin: the
//	           end of it that we do not use; trust: what is left
//	renew      ask the service to confirm a grant or a session; keeper: the code that does it in time
//	confirm    learn from an answer that something is ours, or still is
//	release    give back and say so; abandon: let it run out; close: end a session
//	describe   read one primitive now; watch: read each later state; observe: follow leaders
//	publish    change the data of a grant; proclaim: that of a leader
//	lost       the service's verdict; expired: ours; see The life of a lease
//	passing    an error that may be over by itself; transient: one that was repeated already
//	uncertain  sent, and not known to be done; leftover: a grant that such a claim may have left
//	connection one network connection with the goroutine that owns it; stream: one call on it
//	status     our knowledge of a connection; state: our knowledge of a primitive
//
// # Contract
//
//   - A session has at most one claim per kind and name, from the request to the end of the lease. A second claim gets
//     ErrClaimed at once, on every backend; but if the lease has ended and is still being released, it waits for that.
//   - A waiting claim that is cancelled leaves nothing behind at the service if that can be reached; a grant that races
//     the cancel is released.
//   - A waiting claim outlives errors that may pass (see Passing): the claim is repeated, with pauses, while its Wait
//     and its session last, and SessionOptions.OnTrouble receives the error. An error that a person must fix ends it at
//     once, and so does any error of a try. A repeated claim goes to the end of the queue.
//   - A miss is never reported for a claim that may still be granted. If it cannot be known whether a claim
//     was granted, the error of the claim or of Close wraps ErrUncertain.
//   - Release and Close end the context first and send the request even if the caller's context has ended.
//   - A lease that expired is released as well, because a renewal whose answer was lost may have prolonged it at the
//     service. The release is sent only after the margin has passed, and only if the service can be reached.
//   - Close and Abandon return when no goroutine of the session is left. They rely on drivers to return
//     from a request soon after its context ends.
//   - A panic in a goroutine of a session ends the process, unless the context of its opening has a handler (package
//     spawn). Then the lease or session that the goroutine kept is lost at once, and is released.
//   - Every retry has a pause that grows with jitter. No error's text is read.
//   - A result is one of these: a lease; ok is false; an error that wraps a sentinel, a context's error, or the
//     driver's error.
//
// # Coming from another client
//
// On the left are the public names of four clients, on the right those that take their place. Times are durations here.
//
//	@ydbjs/coordination 6.2           here
//	CoordinationClient                ydbcoord.New; for several nodes ydbcoord.NewClient and ydbcoord.Client.Driver
//	createNode alterNode              ydbcoord.Nodes.Create ydbcoord.Nodes.Alter, with all settings of a node
//	describeNode dropNode             ydbcoord.Nodes.Describe ydbcoord.Nodes.Drop
//	createSession                     coord.Open; its ctx bounds only the opening
//	openSession withSession           coord.Sessions coord.WithSession
//	recoveryWindow                    coord.SessionOptions.TTL ydbcoord.Options.TTL (10 s, theirs 30 s)
//	description startTimeout          coord.SessionOptions.Description coord.SessionOptions.StartTimeout
//	retryBackoff                      coord.SessionOptions.Retry
//	sessionId status                  coord.Session.ID coord.Session.State
//	session.signal                    coord.Session.Context with its cause
//	waitReady                         not needed: coord.Open returns an open session; coord.SessionOptions.OnState
//	close destroy                     coord.Session.Close coord.Session.Abandon
//	semaphore mutex election          coord.Session.Semaphore coord.Session.Mutex coord.Session.Election
//	semaphore.create update delete    coord.Semaphore.Create coord.Semaphore.Update coord.Semaphore.Delete
//	acquire tryAcquire                coord.Semaphore.Acquire coord.Semaphore.TryAcquire coord.WithPermits
//	release                           coord.Lease.Release
//	describe watch owners waiters     coord.Semaphore.Describe coord.Semaphore.Watch, always with both
//	limit count data                  arguments; coord.SemaphoreOptions.Data for an owner's
//	ephemeral waitTimeout force       coord.SemaphoreOptions.Ephemeral coord.SemaphoreOptions.Wait; an argument of Delete
//	lock tryLock                      coord.Mutex.Lock coord.Mutex.TryLock coord.WithLock
//	lease.signal                      coord.Lease.Context, which also ends with the session; coord.Lease.Check
//	campaign                          coord.Election.Campaign; again and again coord.Candidate coord.Lead
//	leader observe isMe               coord.Election.Leader coord.Election.Observe coord.Leader.IsMe
//	leader.signal                     coord.Leader.Context
//	proclaim resign                   coord.Term.Proclaim coord.Term.Resign; ydbcoord.Options.MirrorProclamations
//	leadership.signal                 coord.Term.Context
//	TryAcquireMissError               ok is false; coord.ErrNotAcquired if a Wait ran out
//	isTryAcquireMiss                  the same
//	LeaseReleasedError                coord.ErrReleased
//	SessionClosedError                coord.ErrClosed
//	SessionExpiredError               coord.ErrExpired coord.ErrLost
//	LeaderChangedError                coord.ErrLeaderChanged
//	ObservationEndedError             coord.ErrObservationEnded
//	YDBError                          ydbcoord.StatusError
//
//	LeaderService                     here
//	new LeaderService(key)            coord.NewCandidate for the name rediscoord.LeaderKey(prefix, key)
//	ttlMs renewalIntervalMs           rediscoord.Options.TTL coord.SessionOptions.RenewEvery
//	retryDelayMs                      rediscoord.Options.RetryDelay
//	setBecameLeaderCallback           coord.LeadOptions.OnElected
//	setLostLeaderCallback             coord.LeadOptions.OnLost
//	isLeader start stop               coord.Candidate.Leading coord.Candidate.Run coord.Candidate.Stop
//	MUTEX_REDIS_* REDIS_*             rediscoord.FromEnvironment rediscoord.PrefixFromEnvironment
//	withMutex                         coord.WithLock with the name rediscoord.MutexKey(prefix, parts...)
//
//	@platformatic/leader 0.2          here
//	pool                              pgcoord.New with an address; each claim has a connection of its own
//	lock                              the name, "4242"; other names by pgcoord.Options.Scheme
//	poll                              pgcoord.Options.Poll; without it a claim stands in the server's queue
//	channels onNotification           pgcoord.Options.Channels pgcoord.Listener.Handle, with the text (theirs: JSON)
//	log                               coord.SessionOptions.Log
//	onLeadershipChange                coord.LeadOptions.OnElected for true, coord.LeadOptions.OnLost for false
//	start stop isLeader               coord.Candidate.Run coord.Candidate.Stop coord.Candidate.Leading
//	notify                            pgcoord.Driver.Notify, by anybody
//
//	dflockd-client 1.11               here
//	DistributedLock                   coord.Session.Mutex with dflockcoord.New
//	DistributedSemaphore limit        coord.Session.Semaphore coord.SemaphoreOptions.Limit
//	key                               the name
//	acquireTimeoutS                   coord.MutexOptions.Wait coord.SemaphoreOptions.Wait (no limit, theirs 10 s)
//	leaseTtlS renewRatio              dflockcoord.Options.Lease dflockcoord.Options.RenewEvery
//	servers host port                 dflockcoord.ClientOptions.Servers
//	shardingStrategy stableHashShard  dflockcoord.Options.Shard dflockwire.Shard
//	tls auth                          dflockcoord.ClientOptions.TLS dflockcoord.ClientOptions.Secret
//	connectTimeoutMs                  dflockcoord.ClientOptions.ConnectTimeout
//	socketTimeoutMs                   dflockcoord.ClientOptions.AnswerTimeout; the server's: dflockcoord.Options.IdleCut
//	onLockLost                        dflockcoord.Options.OnLost; coord.Lease.Context
//	acquire release                   coord.Mutex.Lock coord.Lease.Release; acquire's force is not needed
//	enqueue wait                      coord.Mutex.Enqueue coord.QueuePlace.Wait coord.QueuePlace.Leave
//	withLock                          coord.WithLock coord.WithPermits
//	close                             coord.Lease.Release; coord.Lease.Abandon leaves the lease to its end
//	token lease                       dflockcoord.Options.OnGranted coord.Lease.Valid
//	acquire renew release enqueue     dflockwire.Conn.Acquire dflockwire.Conn.Renew dflockwire.Conn.Release
//	waitForLock semAcquire semRenew   dflockwire.Conn.Enqueue dflockwire.Conn.Wait; dflockwire.Key.Semaphore for the
//	semRelease semEnqueue             names that begin with sem. dflockwire.Dialer.Connect makes the connection
//	semWaitForLock                    the same
//	stats                             dflockwire.Conn.Stats dflockwire.Stats dflockwire.Entry
//	LockError                         dflockwire.Refusal
//	AcquireTimeoutError AuthError     coord.ErrNotAcquired; dflockwire.ErrAuth, which is coord.ErrRefused as well
//	SignalConnection publish          none: these are messages, which servers from 2.0 on do not have
package coord
