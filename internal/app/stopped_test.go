package app

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/internal/action"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/ui"
	"coordtop/ui/uitest"
)

// stoppable is a feed that can stop the loop that asks it, as a terminal does that takes no
// more: a bubble does not see that one who waits for Bubble Tea's lock, which a write holds,
// can wait for ever, so that its time would stand still for all. BenchmarkStoppedTerminal
// has the real thing.
type stoppable struct {
	*feed
	stopped, again chan struct{}
}

func (s *stoppable) Events(most int) ([]sources.Event, uint64) {
	select {
	case <-s.stopped:
		<-s.again
	default:
	}
	return s.feed.Events(most)
}

// renewals notes when a service is asked to renew.
type renewals struct {
	mu sync.Mutex
	at []time.Time
}

func (r *renewals) asked(v coordtest.Verb) coordtest.Fault {
	if v == coordtest.VerbRenew {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.at = append(r.at, time.Now())
	}
	return coordtest.Fault{}
}

// longest is the longest time without one between two times.
func (r *renewals) longest(from, to time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var most time.Duration
	last := from
	for _, at := range append(slices.Clone(r.at), to) {
		if at.Before(from) || at.After(to) {
			continue
		}
		most, last = max(most, at.Sub(last)), at
	}
	return most
}

func TestABoardThatStandsStillForAMinuteDelaysNoRenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const ttl = 30 * time.Second
		const due = ttl / 3 // as the service in memory asks for
		var asked renewals
		var link coordtest.Faults
		link.Script(asked.asked)
		mem := coordtest.NewMem(coordtest.GrantRenews, coordtest.MemOptions{TTL: ttl})
		hub := sources.NewHub(t.Context(), sources.HubOptions{})
		defer hub.Close()
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = (uitest.Load{Rows: 100, Changes: 100, Turnover: 10}).Run(ctx, hub) })
		op := operate.New(t.Context(), operate.Options{View: hub, Always: true, Audit: operate.NewAuditLog(t.TempDir()+"/audit.jsonl", operate.Actor{User: "ana"}),
			Backends: map[string]operate.Backend{uitest.Redis: {
				Type: "redis", Demo: true, RunsOut: true, Lease: ttl, Caps: coord.Caps{Mutex: true, Election: true, MaxData: 1024},
				Open: func(context.Context, string) (coord.Driver, error) { return mem.NewDriver(&link), nil },
			}}})
		board := &stoppable{newFeed(hub, nil), make(chan struct{}), make(chan struct{})}
		keys, hand := io.Pipe()
		running.Go(func() {
			err := ui.Run(ctx, ui.Options{Feed: board, Operator: op, Input: keys, Output: io.Discard, Environ: []string{"TERM=xterm"}, Width: 160, Height: 48})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		ref := sources.Ref{Source: uitest.Redis, Space: "0", Name: "app:leader:shard-000007"}
		row := hub.Row(hub.State(), ref)
		if row == nil {
			t.Fatal("no row to take")
		}
		if _, err := op.Start(action.Request{Verb: action.Campaign, Target: action.TargetOf(row, &row.Owners[0])}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * due)
		if n := len(op.Status().Holdings); n != 1 {
			t.Fatalf("holding %d", n)
		}

		close(board.stopped)
		from := time.Now()
		time.Sleep(time.Minute)
		if late := asked.longest(from, time.Now()); late > due {
			t.Errorf("%v without a renewal, which is due every %v", late, due)
		}
		if held := mem.Intervals(coord.KindElection, ref.Name); len(held) != 1 {
			t.Errorf("it was held %d times: %+v", len(held), held)
		}
		close(board.again)
		if err := op.Close(); err != nil {
			t.Error(err)
		}
		stop()
		running.Wait()
		_ = hand.Close()
		board.Close()
	})
}
