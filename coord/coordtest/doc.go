// Package coordtest tests coord.Driver implementations. It has a suite of cases for what every driver promises, a
// coordination service in memory, and faults to inject.
//
// It may import coord, internal/ground/backoff, internal/ground/failure.
//
// # The suite
//
// A driver's own test starts a service and calls Run with a function that makes a
// Harness, once per case:
//
//	func TestConformance(t *testing.T) {
//		t.Parallel()
//		server := localserver.RedisForTest(t, localserver.RedisOptions{}) // one for all cases: every name is fresh
//		coordtest.Run(t, func(t testing.TB) coordtest.Harness {
//			return coordtest.Harness{
//				NewDriver: func(testing.TB) coord.Driver { return mine.New(server.URL()) },
//				TTL:       time.Second,
//			}
//		})
//	}
//
// NewDriver and TTL are required; every other field enables cases that are skipped without it. A case asserts only
// lower bounds of time: nothing is granted to another before its window ends, nobody waits less than asked. Its
// time-out is 30 s plus 20 TTLs, so that it does not fail on a slow machine. A process that is paused for a large part
// of the TTL loses its leases. A case that failed and was late by a tenth of the TTL therefore proves nothing about the
// driver and is run again, at most five times in all. Each further run adds a line to the file that
// $COORDTOP_TEST_RERUNS names; make test counts the lines.
//
// Cases run in parallel, each with clients of its own, which are closed at its end. A case skips itself if Caps or a
// missing optional interface excludes it; what Caps promises must work. Each case is named for its promise.
//
// # The service in memory
//
// Mem is a service, and each MemDriver a client of it. It has two shapes. If the session renews, there is a queue,
// semaphores that must be created, and one window. If each grant renews, a waiting claim polls, exclusive and shared
// owners exist, and the limit of a semaphore comes with the claim. It copies a pitfall of the services that it stands
// for: if the session renews, a second claim of one session is granted silently. Its clock is time.Now, so that it runs
// in synctest bubbles, and Intervals reports the owners from the service's view, not from that of its clients.
//
// # Faults
//
// A Faults breaks requests by verb: Drop, Fail, Delay, DelayReply, LoseReply, Hang, HangReply, Expire. NewDriver of a
// Mem puts one below the driver, in the place of the network.
package coordtest
