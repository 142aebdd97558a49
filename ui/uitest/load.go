package uitest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// Load is what a benchmark lets happen to elections with names in order. Most changes are
// renewals of a lease.
type Load struct {
	Rows    int
	Changes int // a second; 0: none
	Among   int // only the first so many rows change; 0: all, in no order
	// Turnover is how many changes it takes until one of them is another owner; 0: all are
	// renewals.
	Turnover int
}

// batch is how often what is due is told: ten times as often as a Hub publishes.
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
		renewedBy(&p.Owners[0], start)
	}
	script.Push(sources.Change{At: start, Gap: true, Synced: true, Alive: []string{""}, About: &sources.About{Mode: "tracking"}, Set: slices.Clone(prims)})
	for sent := 0; ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			due := int(now.Sub(start).Seconds() * float64(l.Changes))
			c := sources.Change{At: now, Alive: []string{""}}
			for ; sent < due; sent++ {
				c.Set = append(c.Set, l.change(prims, sent, now))
			}
			if len(c.Set) > 0 {
				script.Push(c)
			}
		}
	}
}

// change makes the nth change.
func (l Load) change(prims []*sources.Primitive, n int, now time.Time) *sources.Primitive {
	among := l.Among
	if among == 0 {
		among = l.Rows
	}
	slot := n * 104_729 % among // a prime: all come in turn, neighbours far apart
	owner := prims[slot].Owners[0].ID
	if turn := n / max(l.Turnover, 1); l.Turnover > 0 && n%l.Turnover == l.Turnover-1 {
		slot, owner = turn*7919%among, fmt.Sprintf("host-%02d:4411", turn%97)
	}
	p := Led(prims[slot].Name, owner, now)
	renewedBy(&p.Owners[0], now)
	prims[slot] = p
	return p
}

// loadLease is three times the pause between two renewals of a row where 1,000 changes a
// second go to 10,000 rows: what most clients choose.
const loadLease = 30 * time.Second

// renewedBy gives an owner that renewed now the lease of a load. Since when it owns the
// Hub has to find out.
func renewedBy(o *sources.Owner, now time.Time) {
	o.Since, o.Lease, o.Expires.At = sources.Stamp{}, loadLease, now.Add(loadLease)
}
