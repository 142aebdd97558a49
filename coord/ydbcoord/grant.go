package ydbcoord

import (
	"cmp"
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

// grant is a semaphore, or permits of one, that a session owns. The semaphore is watched, and the grant is lost when
// our session and order id are not among the reported owners, for example after a forced deletion, of which the service
// does not notify owners.
type grant struct {
	*lifetime.Life
	s     *Session
	order uint64
	since uint64 // the request that confirmed the grant; states requested before prove nothing

	// Guarded by the session's mutex, under which the grant also ends.
	params     claimParams
	publishing int // publications under way
}

var _ coord.Publisher = (*grant)(nil)

func (s *Session) newGrantLocked(w claimParams, order, since uint64) *grant {
	g := &grant{Life: lifetime.NewLife(), s: s, order: order, since: since, params: w}
	s.held.grants = append(s.held.grants, g)
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

// endLocked ends the grant on our side and frees its name. It returns false if the grant was over before. A publication
// under way may make us the owner in another term; that is released at the end of the publication or before the next
// claim of the name.
func (g *grant) endLocked(cause error) bool {
	if !g.Finish(cause) {
		return false
	}
	g.s.held.grants = slices.DeleteFunc(g.s.held.grants, func(o *grant) bool { return o == g })
	delete(g.s.held.claims, g.params.name)
	g.s.watches.unguardLocked(g.params.name)
	if g.publishing > 0 {
		g.s.held.left[g.params.name] = struct{}{}
	}
	return true
}

// seenLocked compares a state of the semaphore with the grant.
func (g *grant) seenLocked(state SemaphoreState) {
	if state.request <= g.since {
		return
	}
	order, ours := state.Semaphore.orderOf(g.s.id)
	if !ours || order != g.order {
		g.lostLocked(ours, errors.New("the service does not count us as the owner any more"))
	}
}

// lostLocked ends the grant because it is not ours any more, and returns the reason. If the service still counts us as
// the owner, in another term that nobody here uses, that is released.
func (g *grant) lostLocked(ours bool, why error) error {
	why = fmt.Errorf("%w: %w", coord.ErrLost, why)
	ended := g.endLocked(why)
	if _, left := g.s.held.left[g.params.name]; ours && (ended || left) {
		delete(g.s.held.left, g.params.name)
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
	delete(g.s.held.left, g.params.name) // the release follows all earlier requests
	r := releaseRequest(g.params.name)
	g.s.addLocked(r)
	g.s.mu.Unlock()
	return doing("releasing", g.s.awaitRelease(ctx, r))
}

// Abandon implements coord.Grant. At the service the grant remains ours until the session ends. If the session claims
// the name again, it first releases this grant.
func (g *grant) Abandon() {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if g.endLocked(fmt.Errorf("grant: %w", coord.ErrReleased)) {
		g.s.held.left[g.params.name] = struct{}{}
	}
}

// Publish implements coord.Publisher: it claims the same again with other data, which the service understands as a
// change. If we are not the owner any more, the service may grant the semaphore a second time. Another order id shows
// that, and the new grant is released at once.
func (g *grant) Publish(ctx context.Context, data []byte) error {
	params := g.params
	params.data = slices.Clone(data)
	if err := g.publish(ctx, params); err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	if !g.s.options.MirrorProclamations || params.ephemeral {
		return nil
	}
	return doing("publishing to those who read the semaphore's own data", g.s.Update(ctx, params.name, params.data))
}

// publish starts a publication and waits for its end or that of ctx. After the end of ctx the publication continues,
// and releases a semaphore that the service granted a second time.
func (g *grant) publish(ctx context.Context, params claimParams) error {
	if err := cmp.Or(Options{}.Caps().CheckData(params.data), ctx.Err()); err != nil {
		return err
	}
	done := make(chan error, 1)
	g.s.mu.Lock()
	if err := g.Err(); err != nil {
		g.s.mu.Unlock()
		return fmt.Errorf("%w: %w", coord.ErrLost, err)
	}
	g.publishLocked(params, func(err error) { done <- err })
	g.s.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// publishLocked claims the same again with other data, and passes the result to then. The publication continues even if
// nobody waits for it.
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
		case errors.Is(err, errSuperseded), err != nil && g.s.end.err != nil, err != nil && !failure.IsAny(err, coord.ErrRefused, coord.ErrNotFound):
			finish(err) // the error may pass
		case err != nil: // the claim was valid when we acquired; it is refused now only because the semaphore is another one
			finish(g.lostLocked(false, err))
		case !claim.reply.GetAcquireSemaphoreResult().GetAcquired():
			finish(g.lostLocked(false, errors.New("another owns it")))
		default:
			g.s.addLocked(describe)
		}
	}
	describe.then = func() {
		switch order, ours := describe.semaphore().orderOf(g.s.id); {
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
