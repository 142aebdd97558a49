package uitest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// Load describes the changes that a benchmark makes to elections with names in order. Most
// changes are renewals of a lease.
type Load struct {
	Rows    int
	Changes int // a second; 0: none
	Among   int // only the first so many rows change; 0: all, in no order
	// Turnover n makes every nth change another owner; 0: all are renewals.
	Turnover int
	Lease    time.Duration // of each owner; 0: 30 s
	Random   bool          // the next row to change is drawn at random, always in the same way; false: all come in turn
	// Stops adds one election more, StopsName: its leader renews a lease of 30 s every 10 s
	// until StopsAfter, counted from the start of the load, and then no more.
	Stops bool
}

// The election that Load.Stops adds.
const (
	StopsName  = "app:leader:stops"
	StopsAfter = 30 * time.Second
	stopsEvery = 10 * time.Second
)

// batch is the interval at which due changes are sent: a tenth of that at which a Hub publishes.
const batch = 10 * time.Millisecond

// Run lets the load come from a source of the Hub until ctx ends.
func (l Load) Run(ctx context.Context, hub *sources.Hub) error {
	script := sourcetest.NewScript()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := make(chan struct{})
	go func() { // joined below
		defer close(told)
		l.tell(ctx, script)
	}()
	err := sources.Run(ctx, hub, []sources.Spec{{Name: Redis, Type: "redis", Address: "redis-leases:6379/0", Source: script}})
	cancel()
	<-told
	return err
}

// tell pushes the listing, then what is due, until ctx ends.
func (l Load) tell(ctx context.Context, script *sourcetest.Script) {
	tick := time.NewTicker(batch)
	defer tick.Stop()
	start := <-tick.C
	prims := Many(l.Rows, start)
	for _, p := range prims {
		l.renew(&p.Owners[0], start)
	}
	listing := slices.Clone(prims)
	stops := start
	if l.Stops {
		listing = append(listing, stopping(start))
	}
	chance := rand.New(rand.NewPCG(1, 2))
	script.Push(sources.Change{At: start, Relists: true, Synced: true, Alive: []string{""}, About: &sources.About{Mode: "tracking"}, Set: listing})
	for sent := 0; ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			due := int(now.Sub(start).Seconds() * float64(l.Changes))
			c := sources.Change{At: now, Alive: []string{""}}
			for ; sent < due; sent++ {
				c.Set = append(c.Set, l.change(prims, l.next(sent, chance), sent, now))
			}
			if l.Stops && now.Sub(start) < StopsAfter+stopsEvery && now.Sub(stops) >= stopsEvery {
				stops = stops.Add(stopsEvery)
				c.Set = append(c.Set, stopping(now))
			}
			if len(c.Set) > 0 {
				script.Push(c)
			}
		}
	}
}

// stopping is the election of Stops, renewed now.
func stopping(now time.Time) *sources.Primitive {
	p := Led(StopsName, "host-stops:4411", now)
	(Load{}).renew(&p.Owners[0], now)
	return p
}

// among returns the number of rows that change.
func (l Load) among() int { return cmp.Or(l.Among, l.Rows) }

// next is the row of the nth change.
func (l Load) next(n int, chance *rand.Rand) int {
	if l.Random {
		return chance.IntN(l.among())
	}
	return n * 104_729 % l.among() // a prime: all come in turn, neighbours far apart
}

// change makes the nth change, in this row or, if it is another owner, in one of its own choice.
func (l Load) change(prims []*sources.Primitive, slot, n int, now time.Time) *sources.Primitive {
	owner := prims[slot].Owners[0].ID
	if turn := n / max(l.Turnover, 1); l.Turnover > 0 && n%l.Turnover == l.Turnover-1 {
		slot, owner = turn*7919%l.among(), fmt.Sprintf("host-%02d:4411", turn%97)
	}
	p := Led(prims[slot].Name, owner, now)
	l.renew(&p.Owners[0], now)
	prims[slot] = p
	return p
}

// loadLease is three times the pause between two renewals of a row where 1,000 changes a
// second go to 10,000 rows: what most clients choose.
const loadLease = 30 * time.Second

// renew gives an owner that renewed now the lease of the load. Since when it owns the
// Hub has to find out.
func (l Load) renew(o *sources.Owner, now time.Time) {
	o.Since, o.Lease = sources.Stamp{}, cmp.Or(l.Lease, loadLease)
	o.Expires.At = now.Add(o.Lease)
}
