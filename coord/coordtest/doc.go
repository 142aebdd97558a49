// Package coordtest tests a coord.Driver with a suite of promises that every driver
// keeps, a coordination service in memory, and faults.
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
// NewDriver and TTL are needed; every other field opens cases that are skipped
// without it. A case asserts lower bounds of time only (nothing is given away before
// its window ends, nobody waits less than asked) and bounds itself by 30 s and 20
// TTLs, so a slow machine does not fail it. A machine that stands still for a good part
// of the TTL loses leases rightly: a case that failed and was late by a tenth of the
// TTL proves nothing about the driver and is run again, up to five times in all. The file that
// $COORDTOP_TEST_RERUNS names gets a line for each further run: make test sums them up.
//
// Cases run in parallel, each with clients of its own, which are closed at its end.
// A case skips itself where Caps or a missing optional interface rules
// it out; what Caps promises must be there. Names of cases are the promises.
//
// # The service in memory
//
// Mem is a service, and each MemDriver a client of it. It comes in both shapes: where
// the session renews there is a queue, semaphores that exist, and one window; where
// each grant renews a waiting claim polls, exclusive and shared owners exist, and the
// limit of a semaphore comes with the claim. It copies the pitfalls of the services that it
// stands for: a second claim of one session is granted silently where the session renews.
// Its clock is time.Now, so it runs in synctest bubbles, and
// Intervals reports the owners as the service, not its clients, knew them.
//
// # Faults
//
// A Faults breaks requests by verb: Drop, Fail, Delay, DelayReply, LoseReply, Hang,
// HangReply, Expire. NewDriver of a Mem puts one on the wire, below the driver, where
// the driver has to cope with it.
package coordtest
