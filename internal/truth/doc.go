// Package truth has no code but tests: they compare what "coordtop watch -o json" prints
// with what really happened on real servers.
//
// It may import nothing of this module.
//
// # How
//
// An actor, which uses the client library of the backend and nothing of ours, changes rows
// at random and writes down the truth: who took, gave up, lost, renewed, proclaimed or waited
// for what, and the stretch between the sending of the command and its answer in which it
// happened. Of Postgres, which decides itself who is served, the truth is a reading of its lock
// table, and of YDB and dflockd, of which there are only our emulators, one of their memory: each before
// and after each command, and every few ms for what happens by itself. The program runs as a
// process of its own and connects through a proxy, whose connections are reset, refused, held
// back, frozen for ever or ended in one direction at random instants (darkness); the service of
// YDB breaks streams, restarts and loses answers besides, and dflockd restarts and forgets everything. When all is quiet again, each
// printed line is compared with the truth. Both read the same clock.
//
// # What must hold
//
//   - Every line of a take-over, an end, a renewal, a proclamation (by its data), a waiter that
//     came or left has a change
//     of that row and that owner, of its own, which may have happened in the printed
//     (after, at]. Where after is null it happened within 25 ms of `at`, or before by no more
//     than the slack of a busy machine (-slack); on Redis and YDB, where each push is proved to
//     be prompt, without that slack.
//   - Every true change has a line, but for two kinds, which are counted and printed: what
//     came and went within one interval, that is within the printed sampling plus the slack or
//     within the stretch of one line, of its row or of another (where a link was silent for less
//     than the time that makes a source stale, all its rows have such lines); and what came and went in darkness, that is
//     between a printed source_down and the synced line after it, begun at most one interval
//     before.
//   - owner, previous and last are those of the truth, by id, label and fence. last may be null
//     only where the row is looked at, the lines before name no end of this row, there was darkness since, or the row
//     was read again or made again; on Redis and YDB also where the end or the take-over is told in
//     a stretch of more than 25 ms. The link was held up then, and in the stretch another may
//     have taken the row and given it up, which the server tells nobody afterwards. Where last
//     names somebody it is the true one, or the one before who came and went within one interval.
//   - gap_ms holds the time in which nobody owned the row, at a stretch before the take-over.
//     Somebody who came and went within one interval is not counted against it, unless on
//     Redis and YDB, after more than 50 ms; somebody who did so in darkness is.
//   - In the trials with silences of the proxy, in which the owner changes, and changes back, held_ms and
//     gap_ms hold the true lengths: none that is unmarked excludes the truth. One that is marked as sampled
//     may, where two changes were no further apart than every_ms; these are counted and printed. The other
//     trials do not compare lengths: on Redis an owner that gives it up and takes it again at once, before
//     the push is read, is told as one that keeps it, with an unmarked held_ms.
//   - A cause is the true one, or unknown, or follows from the lease and is marked inferred:
//     expired where the owner is seen gone when its lease is over, released where before, but
//     never where it ran out or the server restarted; session_ended where the owner's session is
//     seen gone with it; restart where the server is, unless the lease ran out before. An
//     end is `expired` if its cause is, and no other. Where the same owner lost the row twice in
//     the stretch of one line, the line tells of the end that has its cause: it does not say which.
//   - Who gives it up and takes it again within one interval may be told as a renewal, and a
//     waiter that leaves and then takes it as one that was served.
//   - What an owner writes before the program has seen it take over needs no line, nor what is
//     overwritten within one interval.
//   - The lines do not contradict each other: applied one after the other they end in the
//     true owners and the true queue.
//
// On Redis and YDB, which push, the link also stalls for less than a second, as often as it is
// cut: the source says nothing of that, and its lines must be true.
//
// Of the semaphores of dflockd only counts are told. Each line of counts has numbers that were true in its
// stretch, and begins with those of the line before; numbers that were true for longer than one interval,
// outside of darkness, have a line; what get prints was true while it ran.
//
// # Running it
//
// The seed is printed first, and -seed repeats what the actor does; the instants of the
// servers' answers are never the same. "make truth" runs 2,000 steps on each backend with 10
// cut connections, which takes some minutes; "go test" runs 200 with 3. -slack bounds the delay
// that the scheduling of this machine adds to a push, or to a look that is due. With 2 cores and
// a load average of 10 the latest of 9 runs was 55 ms late.
package truth
