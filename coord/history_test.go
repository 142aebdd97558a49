package coord_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// A history of leases on one mutex by several clients whose links break at random.
//
// Two promises are checked. Between clients: the stretches in which they trusted
// their leases (from Lock to the last Check that said yes) can be put in an order
// without overlap; porcupine looks for one. Against the service: at the instant of
// every Check that said yes, the service held the primitive for that owner.
//
// Seen to fail when trust is broken (in trust.go, put back afterwards): counted from
// the answer instead of the sending, 11 or 12 of the 24 histories fail; trusted for a
// margin longer than the window, 1; never expiring by itself, all. That the margin is
// kept is checked by virtual_trust_test.go: without it nothing overlaps here yet.
const (
	historyTTL     = 2 * time.Second
	historyMargin  = 100 * time.Millisecond
	historyLength  = 3 * time.Minute
	historyClients = 4
	historySeeds   = 12
)

func TestTrustedLeasesNeverOverlapUnderFaults(t *testing.T) {
	t.Parallel()
	for _, shape := range []coordtest.Shape{coordtest.SessionRenews, coordtest.GrantRenews} {
		for seed := range uint64(historySeeds) {
			t.Run(fmt.Sprintf("%v seed %d", shape, seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { checkHistory(t, shape, seed) })
			})
		}
	}
}

func checkHistory(t *testing.T, shape coordtest.Shape, seed uint64) {
	m := coordtest.NewMem(shape, coordtest.MemOptions{TTL: historyTTL})
	h := &history{}
	var clients sync.WaitGroup
	for id := range historyClients {
		clients.Go(func() {
			c := &client{id: id, h: h, m: m, link: &coordtest.Faults{}, rng: rand.New(rand.NewPCG(seed, uint64(id)))}
			c.link.Script(breaking(rand.New(rand.NewPCG(seed, uint64(id+1000)))))
			c.run(t.Context())
		})
	}
	clients.Wait()
	if len(h.operations) < 40 {
		t.Errorf("only %d operations: that is no test", len(h.operations))
	}
	if got := porcupine.CheckOperationsTimeout(mutexModel, h.operations, time.Minute); got != porcupine.Ok {
		t.Errorf("the trusted stretches overlap (porcupine says %v of %d operations)", got, len(h.operations))
	}
	intervals := m.Intervals(coord.KindMutex, "job")
	for _, y := range h.trusted {
		if !slices.ContainsFunc(intervals, y.covered) {
			t.Errorf("client %d trusted its lease (%s, fence %d) at %v, when the service did not hold it for it",
				y.client, y.owner, y.fence, y.at)
		}
	}
	t.Logf("%d operations, %d checks, %d owners", len(h.operations), len(h.trusted), len(intervals))
}

// breaking chooses a fault for one request in three.
func breaking(rng *rand.Rand) func(coordtest.Verb) coordtest.Fault {
	var mu sync.Mutex
	return func(coordtest.Verb) coordtest.Fault {
		mu.Lock()
		defer mu.Unlock()
		d := time.Duration(rng.Int64N(int64(2 * historyTTL)))
		switch rng.IntN(24) {
		case 0:
			return coordtest.Drop()
		case 1:
			return coordtest.HangReply()
		case 2:
			return coordtest.Fail(nil)
		case 3:
			return coordtest.LoseReply()
		case 4, 5:
			return coordtest.Delay(d)
		case 6, 7:
			return coordtest.DelayReply(d)
		}
		return coordtest.Delay(d / 100)
	}
}

// history records the actions of the clients. Its clock counts steps, not time, so that nothing
// happens at the same instant.
type history struct {
	clock atomic.Int64

	mu         sync.Mutex
	operations []porcupine.Operation
	trusted    []yes
}

func (h *history) tick() int64 { return h.clock.Add(1) }

func (h *history) add(client int, call, ret int64, in step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.operations = append(h.operations, porcupine.Operation{ClientId: client, Input: in, Call: call, Return: ret})
}

// yes is a Check that said that the lease can be trusted.
type yes struct {
	client int
	owner  string
	fence  uint64
	at     time.Time
}

// covered reports whether the service held it then. A lease that is released at the instant of
// the Check was released after it, for the client does one after the other; one that ran out
// at that instant was over.
func (y yes) covered(i coordtest.Interval) bool {
	if i.Owner != y.owner || i.Fence != y.fence || y.at.Before(i.From) {
		return false
	}
	ours := errors.Is(i.Why, coord.ErrReleased) || errors.Is(i.Why, coord.ErrClosed)
	return i.Until.IsZero() || y.at.Before(i.Until) || ours && y.at.Equal(i.Until)
}

// step is one operation on the mutex as the model sees it.
type step struct {
	lease int64 // which lease; each has its own number
	begin bool  // it begins to be trusted, or ceases to be
}

// mutexModel has the state "which lease is trusted"; 0: none.
var mutexModel = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, _ any) (bool, any) {
		owner, in := state.(int64), input.(step)
		if in.begin {
			return owner == 0, in.lease
		}
		return owner == in.lease, int64(0)
	},
}

// client opens sessions, locks, checks and lets go, until the time is up.
type client struct {
	id   int
	h    *history
	m    *coordtest.Mem
	link *coordtest.Faults
	rng  *rand.Rand
}

func (c *client) between(low, high time.Duration) time.Duration {
	return low + time.Duration(c.rng.Int64N(int64(high-low)))
}

func (c *client) run(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, historyLength)
	defer cancel()
	for ctx.Err() == nil {
		opening, stop := context.WithTimeout(ctx, historyTTL)
		s, err := coord.Open(opening, c.m.NewDriver(c.link), coord.SessionOptions{TTL: historyTTL, Margin: historyMargin})
		stop()
		if err != nil {
			time.Sleep(c.between(10*time.Millisecond, historyTTL))
			continue
		}
		c.use(ctx, s)
	}
}

// use locks a few times in one session and ends it one way or the other.
func (c *client) use(ctx context.Context, s *coord.Session) {
	for range 1 + c.rng.IntN(8) {
		if s.Context().Err() != nil || ctx.Err() != nil {
			break
		}
		patience, stop := context.WithTimeout(ctx, c.between(historyTTL/10, 3*historyTTL))
		call := c.h.tick()
		l, err := s.Mutex("job", coord.MutexOptions{}).Lock(patience)
		stop()
		if err == nil {
			number := c.h.tick()
			c.h.add(c.id, call, number, step{number, true})
			c.hold(ctx, l, number)
		}
		time.Sleep(c.between(0, historyTTL/4))
	}
	if c.rng.IntN(2) == 0 {
		s.Abandon()
		return
	}
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), historyTTL)
	defer stop()
	_ = s.Close(closing) // the link may be broken
}

// hold checks a lease for a while and lets it go. The end lies somewhere after the
// last Check that said yes.
func (c *client) hold(ctx context.Context, l *coord.Lease, number int64) {
	last := number
	end := time.Now().Add(c.between(0, 3*historyTTL))
	for {
		asked, now := c.h.tick(), time.Now()
		if l.Check() != nil {
			break
		}
		last = asked
		c.h.mu.Lock()
		c.h.trusted = append(c.h.trusted, yes{c.id, l.Owner(), l.Fence(), now})
		c.h.mu.Unlock()
		if now.After(end) || ctx.Err() != nil {
			c.letGo(ctx, l)
			break
		}
		select {
		case <-time.After(c.between(time.Millisecond, historyTTL/8)):
		case <-l.Context().Done():
		}
	}
	c.h.add(c.id, last, c.h.tick(), step{number, false})
}

func (c *client) letGo(ctx context.Context, l *coord.Lease) {
	if c.rng.IntN(4) == 0 {
		l.Abandon()
		return
	}
	releasing, stop := context.WithTimeout(context.WithoutCancel(ctx), historyTTL/2)
	defer stop()
	_ = l.Release(releasing) // the link may be broken
}
