package ydbcoord_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

func TestNoTwoLeasesAreTrustedAtOnceWhateverBreaks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) { chaos(t, b, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

// chaos lets clients contend for a mutex for some minutes, while the service and the ways
// to it break.
func chaos(t *testing.T, b *bench, random *rand.Rand) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var inside, turns atomic.Int64
	var fence atomic.Uint64
	var all sync.WaitGroup
	for i := range 4 {
		d := b.on(t, b.dial(t, i%2), ydbcoord.Options{})
		hold := time.Duration(random.IntN(2000)) * time.Millisecond
		all.Go(func() {
			for s, err := range coord.Sessions(ctx, d, coord.SessionOptions{TTL: ttl}) {
				if err != nil {
					t.Errorf("refused: %v", err)
					return
				}
				for s.Context().Err() == nil && ctx.Err() == nil {
					l, err := s.Mutex("m", coord.MutexOptions{Wait: 5 * time.Second}).Lock(ctx)
					if err != nil {
						continue
					}
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d leases at once", n)
					}
					if before := fence.Swap(l.Fence()); before >= l.Fence() {
						t.Errorf("fence %d after %d", l.Fence(), before)
					}
					select {
					case <-time.After(hold):
						turns.Add(1)
					case <-l.Context().Done():
					}
					inside.Add(-1)
					_ = l.Release(ctx) // it may have to be told later
				}
			}
		})
	}
	b.breakThings(ctx, random)
	all.Wait()
	t.Logf("%d turns", turns.Load())
	if turns.Load() < 10 {
		t.Errorf("only %d turns in 3 minutes", turns.Load())
	}
	time.Sleep(2 * ttl)
	if n := len(b.Sessions(node)); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// breakThings breaks one thing after the other and mends it, until ctx ends. Sessions that
// the service ends before their time are not among it: then nobody can promise anything.
func (b *bench) breakThings(ctx context.Context, random *rand.Rand) {
	faults := []func(front int) (mend func()){
		func(int) func() { b.CutStreams(); return nil },
		func(front int) func() { b.CutConnections(front); return nil },
		func(front int) func() { b.BlackHole(front, true); return func() { b.BlackHole(front, false) } },
		func(front int) func() { b.Refuse(front, true); return func() { b.Refuse(front, false) } },
		func(front int) func() { b.Delay(front, 300*time.Millisecond); return func() { b.Delay(front, 0) } },
		func(int) func() { _ = b.RestartTablet(node); return nil },
		func(front int) func() { _ = b.LoseRegistration(front, node); return nil },
		func(int) func() { _ = b.FailStreams(node, Ydb.StatusIds_UNAVAILABLE); return nil },
		func(int) func() { b.DropReplies("acquire_semaphore_result", 1); return nil },
		func(int) func() { b.DropReplies("release_semaphore_result", 1); return nil },
	}
	for ctx.Err() == nil {
		time.Sleep(time.Duration(random.IntN(4000)) * time.Millisecond)
		if mend := faults[random.IntN(len(faults))](random.IntN(2)); mend != nil {
			time.Sleep(time.Duration(random.IntN(6000)) * time.Millisecond)
			mend()
		}
	}
}
