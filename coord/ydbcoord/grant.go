package ydbcoord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/failure"
)

// grant is what a session owns. It is guarded: the semaphore is watched, and the grant is
// lost when its owners are reported without our session and order id, as happens after a
// forced deletion, which the service does not report to owners.
type grant struct {
	*lifetime.Life
	s     *Session
	order uint64
	since uint64 // the request that confirmed it; states that were asked for before say nothing

	// Guarded by the session's mutex, under which it ends too.
	params     claimParams
	publishing int // publications on their way
}

var (
	_ coord.Grant     = (*grant)(nil)
	_ coord.Publisher = (*grant)(nil)
)

func (s *Session) newGrantLocked(w claimParams, order, since uint64) *grant {
	g := &grant{Life: lifetime.NewLife(), s: s, order: order, since: since, params: w}
	s.grants = append(s.grants, g)
	s.watches.guardLocked(w.name)
	s.flushLocked()
	return g
}

// Info implements coord.Grant. The window is the session's.
func (g *grant) Info() coord.GrantInfo {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	return coord.GrantInfo{Owner: OwnerID(g.s.id, g.s.incarnation), Fence: g.order, Window: g.s.windowLocked()}
}

// endLocked ends the grant on our side and frees its name; false: it was over before. A
// publication on its way may make us the owner in another term: then whoever comes first,
// its end or the next claim of the name, gives that back.
func (g *grant) endLocked(cause error) bool {
	if !g.Finish(cause) {
		return false
	}
	g.s.grants = slices.DeleteFunc(g.s.grants, func(o *grant) bool { return o == g })
	delete(g.s.claims, g.params.name)
	g.s.watches.unguardLocked(g.params.name)
	if g.publishing > 0 {
		g.s.left[g.params.name] = struct{}{}
	}
	return true
}

// seenLocked compares what was seen of the semaphore with what we own of it.
func (g *grant) seenLocked(state SemaphoreState) {
	if state.request <= g.since {
		return
	}
	order, ours := state.Semaphore.orderOf(g.s.id)
	if !ours || order != g.order {
		g.lostLocked(ours, errors.New("the service does not count us as the owner any more"))
	}
}

// lostLocked ends the grant because it is not ours any more. Where the service counts us
// as the owner all the same, in another term, which nobody knows of, that is given back.
func (g *grant) lostLocked(ours bool, why error) error {
	why = fmt.Errorf("%w: %w", coord.ErrLost, why)
	ended := g.endLocked(why)
	if _, left := g.s.left[g.params.name]; ours && (ended || left) {
		delete(g.s.left, g.params.name)
		g.s.addLocked(releaseRequest(g.params.name))
	}
	return why
}

// Release implements coord.Grant. A release that could not be sent is sent when there is a
// connection again.
func (g *grant) Release(ctx context.Context) error {
	g.s.mu.Lock()
	if !g.endLocked(fmt.Errorf("grant: %w", coord.ErrReleased)) {
		g.s.mu.Unlock()
		return nil
	}
	delete(g.s.left, g.params.name) // the release stands behind all that was sent
	r := releaseRequest(g.params.name)
	g.s.addLocked(r)
	g.s.mu.Unlock()
	if err := g.s.awaitRelease(ctx, r); err != nil {
		return fmt.Errorf("releasing: %w", err)
	}
	return nil
}

// Abandon implements coord.Grant. At the service it is ours until the session ends, or
// until the session claims the name again: then it is given back first.
func (g *grant) Abandon() {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if g.endLocked(fmt.Errorf("grant: %w", coord.ErrReleased)) {
		g.s.left[g.params.name] = struct{}{}
	}
}

// Publish implements coord.Publisher: it claims the same again with other data, which the
// service takes for a change. If we are not the owner any more it may grant anew what is
// free; another order id shows that, and it is given back at once.
func (g *grant) Publish(ctx context.Context, data []byte) error {
	if len(data) > maxData {
		return fmt.Errorf("publishing: %d bytes, at most %d: %w", len(data), maxData, coord.ErrDataTooLong)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	params, done := g.params, make(chan error, 1)
	params.data = slices.Clone(data)
	g.s.mu.Lock()
	if err := g.Err(); err != nil {
		g.s.mu.Unlock()
		return fmt.Errorf("publishing: %w: %w", coord.ErrLost, err)
	}
	g.publishLocked(params, func(err error) { done <- err })
	g.s.mu.Unlock()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("publishing: %w", err)
		}
	case <-ctx.Done():
		return fmt.Errorf("publishing: %w", ctx.Err()) // it goes on, lest it leaves us an owner unawares
	}
	if g.s.options.MirrorProclamations && !params.ephemeral {
		if err := g.s.Update(ctx, params.name, params.data); err != nil {
			return fmt.Errorf("publishing to those who read the semaphore's own data: %w", err)
		}
	}
	return nil
}

// publishLocked claims the same again with other data, and calls then with what became of it. It
// needs nobody who waits for it.
func (g *grant) publishLocked(params claimParams, then func(error)) {
	g.publishing++
	finish := func(err error) {
		if err != nil && g.Err() != nil {
			err = coord.Lost(err)
		}
		g.publishing--
		then(err)
	}
	claim := newRequest(verbAcquire, params.name, func(id uint64, _ time.Time) *pb.SessionRequest {
		return acquireMessage(id, params, 0)
	})
	describe := newDescribe(verbDescribe, params.name)
	claim.then = func() {
		switch err := claim.err; {
		case errors.Is(err, errSuperseded), err != nil && g.s.err != nil, err != nil && !failure.IsAny(err, coord.ErrRefused, coord.ErrNotFound):
			finish(err) // it may pass
		case err != nil: // what was valid when we acquired is refused now only if the semaphore is another one
			finish(g.lostLocked(false, err))
		case !claim.reply.GetAcquireSemaphoreResult().GetAcquired():
			finish(g.lostLocked(false, errors.New("another owns it")))
		default:
			g.s.addLocked(describe)
		}
	}
	describe.then = func() {
		sem := decodeSemaphore(params.name, describe.reply.GetDescribeSemaphoreResult().GetSemaphoreDescription())
		switch order, ours := sem.orderOf(g.s.id); {
		case describe.err != nil && !errors.Is(describe.err, coord.ErrNotFound):
			finish(describe.err)
		case ours && order == g.order:
			finish(nil)
		default:
			finish(g.lostLocked(ours, errors.New("the term was over before")))
		}
	}
	g.s.addLocked(claim)
}
