package coordtest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
)

// sabotage is a driver that breaks one promise, and the case that must notice it.
type sabotage struct {
	what    string
	shape   Shape
	noticed string                            // the case
	verb    Verb                              // whose requests go through fault
	fault   Fault                             // on the wire
	trouble Fault                             // what it makes of a trouble that passes
	claim   func(c *coord.Claim)              // what becomes of a claim
	info    func(i *coord.GrantInfo)          // what a grant says of itself
	grant   func(g *memGrant, h *grantHooks)  // what a grant does
	session func(s *memSession, h *sessHooks) // what a session does
	open    func(ctx context.Context, s coord.DriverSession)
}

// leakFor is the time for which a goroutine is left: longer than a case, but a bubble cannot end
// before it.
const leakFor = time.Hour

// swallow is a request that never arrives and is answered as if it had.
var swallow = Fault{name: "swallow", dropped: true}

// forget is an answer that does not tell why it failed.
var forget = Fault{name: "forget", answer: func(err error) error {
	if err != nil {
		return errors.New("it did not work")
	}
	return nil
}}

func sabotages() []sabotage {
	return []sabotage{
		{what: "releases nothing", noticed: "WaitGetsItAfterRelease/mutex", verb: VerbRelease, fault: swallow},
		{what: "releases nothing on Close", shape: GrantRenews, noticed: "SessionCloseReleases/mutex", verb: VerbRelease, fault: swallow},
		{what: "closes nothing", noticed: "SessionCloseReleases/election", verb: VerbClose, fault: swallow},
		{what: "renews nothing (session)", noticed: "RenewalKeepsItBeyondItsTTL/mutex", verb: VerbRenew, fault: swallow},
		{what: "renews nothing (grant)", shape: GrantRenews, noticed: "RenewalKeepsItBeyondItsTTL/mutex", verb: VerbRenew, fault: swallow},
		{what: "leaves its waiting claims behind", noticed: "CancelledWaitLeavesNothing/mutex", verb: VerbLeave, fault: swallow},
		{what: "does not leave the queue", noticed: "PlaceIsServedLeftOrKept/mutex", verb: VerbLeave, fault: swallow},
		{what: "hides the context's error", noticed: "CancelledWaitLeavesNothing/mutex", verb: VerbAcquire, fault: forget},
		{what: "hides a verdict (session)", noticed: "UnrenewedIsLostToTheNext/mutex", verb: VerbRenew, fault: forget},
		{what: "hides a verdict (grant)", shape: GrantRenews, noticed: "TakenAwayIsLost/election", verb: VerbRenew, fault: forget},
		{what: "hides a refusal", noticed: "SemaphoreRefusesMoreThanItsLimit", verb: VerbAcquire, fault: forget},
		{what: "publishes nothing", shape: GrantRenews, noticed: "PublishReplacesTheDataAndKeepsTheTTL/election", verb: VerbPublish, fault: swallow},
		{what: "publishes after a loss", noticed: "PublishAfterLossWritesNothing/election", verb: VerbPublish, fault: forget},
		{what: "updates nothing", noticed: "ProvisionerCreatesUpdatesAndDeletes", verb: VerbUpdate, fault: swallow},

		{what: "waits half as long", noticed: "WaitRunsOutAndLeavesNothing/mutex", claim: func(c *coord.Claim) { c.Wait /= 2 }},
		{what: "takes one permit always", noticed: "SemaphoreGivesOutItsLimitAndNoMore", claim: func(c *coord.Claim) { c.Permits = 0 }},
		{what: "shares nothing", shape: GrantRenews, noticed: "SharedOwnersKeepExclusiveOnesOut", claim: func(c *coord.Claim) { c.Mode = coord.Exclusive }},
		{what: "shares all", shape: GrantRenews, noticed: "TryMissesWhileOwned/mutex", claim: func(c *coord.Claim) { c.Mode = coord.Shared }},
		{what: "makes nothing ephemeral", noticed: "EphemeralSemaphoreVanishesWithItsLastOwner", claim: func(c *coord.Claim) { c.Ephemeral = false }},
		{what: "drops the data", shape: GrantRenews, noticed: "DescribeShowsTheOwnerAsItCallsItself/mutex", claim: func(c *coord.Claim) { c.Data = nil }},
		{what: "promises twice the TTL", shape: GrantRenews, noticed: "AbandonedRunsOutAndNotBefore/mutex", info: func(i *coord.GrantInfo) { i.Valid *= 2 }},
		{what: "promises twice the TTL to a grant", shape: GrantRenews, noticed: "AbandonedGrantEnds/mutex", info: func(i *coord.GrantInfo) { i.Valid *= 2 }},
		{what: "counts from the future", noticed: "GrantSaysWhatIsTrue/mutex", info: func(i *coord.GrantInfo) { i.Asked = i.Asked.Add(time.Hour) }},
		{what: "renews too late", noticed: "GrantSaysWhatIsTrue/election", info: func(i *coord.GrantInfo) { i.RenewIn = i.Valid }},
		{what: "has one fence for all", noticed: "FenceGrows/mutex", info: func(i *coord.GrantInfo) { i.Fence = 1 }},
		{what: "has another name for itself", noticed: "DescribeShowsTheOwnerAsItCallsItself/mutex", info: func(i *coord.GrantInfo) { i.Owner = "me" }},
		{what: "renews session and grant", noticed: "ExactlyOneOfSessionAndGrantRenews", grant: func(_ *memGrant, h *grantHooks) { h.renews = true }},
		{what: "releases whatever is there", noticed: "ReleaseTwiceDoesNotHurtTheNextOwner/mutex", grant: func(g *memGrant, h *grantHooks) {
			h.release = func(context.Context) error {
				g.s.m.Expire(g.key.kind, g.key.name)
				return nil
			}
		}},
		{what: "never ends a grant", noticed: "SessionCloseReleases/mutex", grant: func(_ *memGrant, h *grantHooks) {
			h.done = make(chan struct{})
		}},
		{what: "keeps it for ever by publishing", shape: GrantRenews, noticed: "PublishReplacesTheDataAndKeepsTheTTL/mutex", grant: func(g *memGrant, h *grantHooks) {
			publish := h.publish
			h.publish = func(ctx context.Context, data []byte) error {
				g.s.m.do(func(now time.Time) {
					if e := g.s.m.findLocked(g.handle); e != nil {
						e.life.ttl = 1000 * time.Hour
						e.life.extend(now)
					}
				})
				return publish(ctx, data)
			}
		}},

		{what: "minds being closed twice", noticed: "SessionCloseTwiceIsHarmless", session: func(s *memSession, h *sessHooks) {
			h.close = func(ctx context.Context) error { return errors.Join(s.Err(), s.Close(ctx)) }
		}},
		{what: "releases oldest first", shape: GrantRenews, noticed: "CloseReleasesNewestFirst", session: func(s *memSession, h *sessHooks) {
			h.close = func(ctx context.Context) error {
				slices.Reverse(s.grants)
				return s.Close(ctx)
			}
		}},
		{what: "releases when abandoned", noticed: "AbandonedRunsOutAndNotBefore/mutex", session: func(s *memSession, h *sessHooks) {
			h.abandon = func() { _ = s.Close(context.Background()) }
		}},
		{what: "leaves a goroutine", noticed: "CloseLeavesNoGoroutine", session: func(*memSession, *sessHooks) {
			go time.Sleep(leakFor)
		}},
		{what: "watches once", noticed: "WatchTellsEachChange/mutex", session: func(s *memSession, h *sessHooks) {
			h.watch = func(ctx context.Context, kind coord.Kind, name string) iter.Seq2[coord.Description, error] {
				return func(yield func(coord.Description, error) bool) { yield(s.Describe(ctx, kind, name)) }
			}
		}},
		{what: "keeps no order", noticed: "WaitersAreServedInOrder/mutex", session: func(s *memSession, h *sessHooks) {
			enqueue := h.enqueue
			h.enqueue = func(ctx context.Context, c coord.Claim) (coord.Place, error) {
				p, err := enqueue(ctx, c)
				s.m.mu.Lock()
				defer s.m.mu.Unlock()
				slices.Reverse(s.m.itemLocked(itemKey{c.Kind, c.Name}).queue)
				return p, err
			}
		}},
		{what: "releases nothing for the core", noticed: "Lease/EndsWithItsRelease", verb: VerbRelease, fault: swallow},
		{what: "renews nothing for the core", noticed: "Lease/KeptBeyondItsTTL", verb: VerbRenew, fault: swallow},
		{what: "lets all contenders in", shape: GrantRenews, noticed: "Lease/ContendersExcludeEachOther", claim: func(c *coord.Claim) { c.Mode = coord.Shared }},
		{what: "promises the core twice the TTL", shape: GrantRenews, noticed: "Lease/EndsBeforeASilentServiceGivesItAway", info: func(i *coord.GrantInfo) { i.Valid *= 2 }},
		{what: "does not say that it waits", noticed: "Claim/WaitingIsTold", claim: func(c *coord.Claim) { c.Waiting = nil }},
		{what: "calls final what passes", shape: GrantRenews, noticed: "Claim/WaitingOutlivesWhatPasses", trouble: Fail(coord.ErrRefused)},
		{what: "is led by another than its leader", noticed: "Election/LeaderIsWhoWasElected", info: func(i *coord.GrantInfo) { i.Owner = "me" }},
		{what: "proclaims nothing", noticed: "Election/ObserveTellsTheWholeStory", verb: VerbPublish, fault: swallow},
		{what: "observes once", noticed: "Election/ObserveTellsTheWholeStory", session: func(s *memSession, h *sessHooks) {
			h.watch = func(ctx context.Context, kind coord.Kind, name string) iter.Seq2[coord.Description, error] {
				return func(yield func(coord.Description, error) bool) { yield(s.Describe(ctx, kind, name)) }
			}
		}},
		{what: "resigns without telling", noticed: "Election/CandidateTakesOver", verb: VerbRelease, fault: swallow},
		{what: "acquires in a closed session", shape: GrantRenews, noticed: "ClosedSessionRefusesToAcquire", session: func(s *memSession, h *sessHooks) {
			acquire := h.acquire
			h.acquire = func(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
				if s.Err() != nil {
					return &memGrant{s: s}, true, nil
				}
				return acquire(ctx, c)
			}
		}},
		{what: "keeps the context of Open", noticed: "OpenStopsWithItsContext", open: func(ctx context.Context, s coord.DriverSession) {
			context.AfterFunc(ctx, s.Abandon)
		}},
	}
}

func TestSuiteNoticesEachBrokenPromise(t *testing.T) {
	t.Parallel()
	cases := allCases()
	for _, sab := range sabotages() {
		t.Run(sab.what, func(t *testing.T) {
			t.Parallel()
			at := slices.IndexFunc(cases, func(c testCase) bool { return c.name == sab.noticed })
			if at < 0 {
				t.Fatalf("there is no case %q", sab.noticed)
			}
			synctest.Test(t, func(t *testing.T) {
				if a, _ := cases[at].attempt(t, sab.harness, 1); !a.failed || a.skipped != "" {
					t.Errorf("%s did not notice a driver that %s (skipped: %q)", sab.noticed, sab.what, a.skipped)
				} else {
					t.Logf("noticed: %q", a.failures)
				}
				time.Sleep(leakFor)
			})
		})
	}
}

func (b sabotage) harness(testing.TB) Harness {
	m, f := NewMem(b.shape, MemOptions{}), &Faults{}
	f.Set(b.verb, b.fault, 0)
	h := Harness{
		TTL:     time.Second,
		Expire:  func(_ testing.TB, kind coord.Kind, name string) { m.Expire(kind, name) },
		Endings: func(testing.TB) func() []string { return m.Endings },
		Freezer: func(testing.TB) (coord.Driver, func()) {
			return &bentDriver{m.NewDriver(f), b}, func() { f.Script(func(Verb) Fault { return Drop() }) }
		},
	}
	h.NewDriver = func(testing.TB) coord.Driver { return &bentDriver{m.NewDriver(f), b} }
	h.Troubles = func(testing.TB) (func(testing.TB) coord.Driver, []Trouble) {
		return h.NewDriver, []Trouble{{
			Name: "cut", Begin: func() { f.Set(VerbAcquire, b.trouble, 0) }, End: func() { f.Clear(VerbAcquire) },
		}}
	}
	return h
}

type bentDriver struct {
	*MemDriver
	b sabotage
}

func (d *bentDriver) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := d.MemDriver.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if d.b.open != nil {
		d.b.open(ctx, s)
	}
	h := &sessHooks{acquire: s.Acquire, close: s.Close, abandon: s.Abandon, watch: s.(coord.Watcher).Watch}
	if p, ok := s.(*pollingSession); ok {
		d.b.bend(p.memSession, h)
		return bentPolling{p, h}, nil
	}
	r := s.(*renewingSession)
	h.enqueue = r.Enqueue
	d.b.bend(r.memSession, h)
	return bentRenewing{r, h}, nil
}

// bend puts the sabotage into the hooks of a session.
func (b sabotage) bend(s *memSession, h *sessHooks) {
	acquire := h.acquire
	h.acquire = func(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
		if b.claim != nil {
			b.claim(&c)
		}
		g, ok, err := acquire(ctx, c)
		if !ok {
			return g, ok, err
		}
		return b.bendGrant(g), true, err
	}
	if b.session != nil {
		b.session(s, h)
	}
}

func (b sabotage) bendGrant(g coord.Grant) coord.Grant {
	h := &grantHooks{info: b.info, release: g.Release, done: g.Done(), publish: g.(coord.Publisher).Publish}
	plain, ok := g.(*memGrant)
	if !ok {
		plain = g.(*renewingGrant).memGrant
		h.renews = true
	}
	if b.grant != nil {
		b.grant(plain, h)
	}
	bent := bentGrant{plain, h}
	if !h.renews {
		return bent
	}
	return struct {
		bentGrant
		coord.Renewer
	}{bent, &renewingGrant{plain}}
}

type sessHooks struct {
	acquire func(context.Context, coord.Claim) (coord.Grant, bool, error)
	close   func(context.Context) error
	abandon func()
	watch   func(context.Context, coord.Kind, string) iter.Seq2[coord.Description, error]
	enqueue func(context.Context, coord.Claim) (coord.Place, error)
}

type bentPolling struct {
	*pollingSession
	h *sessHooks
}

type bentRenewing struct {
	*renewingSession
	h *sessHooks
}

func (s bentPolling) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	return s.h.acquire(ctx, c)
}

func (s bentRenewing) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	return s.h.acquire(ctx, c)
}

func (s bentPolling) Close(ctx context.Context) error  { return s.h.close(ctx) }
func (s bentRenewing) Close(ctx context.Context) error { return s.h.close(ctx) }
func (s bentPolling) Abandon()                         { s.h.abandon() }
func (s bentRenewing) Abandon()                        { s.h.abandon() }

func (s bentPolling) Watch(ctx context.Context, kind coord.Kind, name string) iter.Seq2[coord.Description, error] {
	return s.h.watch(ctx, kind, name)
}

func (s bentRenewing) Watch(ctx context.Context, kind coord.Kind, name string) iter.Seq2[coord.Description, error] {
	return s.h.watch(ctx, kind, name)
}

func (s bentRenewing) Enqueue(ctx context.Context, c coord.Claim) (coord.Place, error) {
	return s.h.enqueue(ctx, c)
}

type grantHooks struct {
	info    func(*coord.GrantInfo)
	release func(context.Context) error
	publish func(context.Context, []byte) error
	done    <-chan struct{}
	renews  bool
}

type bentGrant struct {
	*memGrant
	h *grantHooks
}

func (g bentGrant) Info() coord.GrantInfo {
	i := g.memGrant.Info()
	if g.h.info != nil {
		g.h.info(&i)
	}
	return i
}

func (g bentGrant) Release(ctx context.Context) error { return g.h.release(ctx) }
func (g bentGrant) Done() <-chan struct{}             { return g.h.done }

func (g bentGrant) Publish(ctx context.Context, data []byte) error { return g.h.publish(ctx, data) }
