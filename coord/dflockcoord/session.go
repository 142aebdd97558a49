package dflockcoord

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	"coordtop/coord"
	"coordtop/coord/dflockwire"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/spawn"
)

// session holds the TTL and the descriptions of the servers that its claims share. A server knows no sessions, so that
// only Close and Abandon end one.
type session struct {
	*lifetime.Session[claimed]
	driver  *Driver
	servers []server
	ttl     time.Duration // 0: the server's default

	renewEvery time.Duration // the longest pause between two renewals; 0: half of the window

	cut  context.Context // when this ends, no more requests may be sent
	stop context.CancelFunc
}

// claimed is a grant, or a place in a queue.
type claimed interface {
	End(cause error) bool // reports whether it was not over before
	giveBack(ctx context.Context) error
	detach() // leaves the grant or place at the server until it expires
}

var (
	_ coord.Describer = (*session)(nil)
	_ coord.Queuer    = (*session)(nil)
)

// Info implements coord.DriverSession.
func (s *session) Info() coord.SessionInfo {
	caps := s.driver.options.Caps()
	caps.Fence = !slices.ContainsFunc(s.servers, func(one server) bool { return !one.modern })
	return coord.SessionInfo{Caps: caps}
}

// Close implements coord.DriverSession.
func (s *session) Close(ctx context.Context) error {
	all, first := s.Shut(errSessionOver)
	if !first {
		return nil
	}
	defer spawn.OnDone(ctx, s.stop)()
	all = slices.DeleteFunc(all, func(c claimed) bool { return !c.End(errSessionOver) })
	var errs []error
	for _, c := range all {
		errs = append(errs, c.giveBack(ctx))
	}
	s.over()
	return errors.Join(errs...)
}

// Abandon implements coord.DriverSession. The driver keeps the connections of grants until they
// expire.
func (s *session) Abandon() {
	all, first := s.Shut(errSessionOver)
	s.stop()
	if !first {
		<-s.Done()
		return
	}
	for _, c := range all {
		if c.End(errSessionOver) {
			c.detach()
		}
	}
	s.over()
}

// over waits for every goroutine.
func (s *session) over() {
	s.Wait()
	s.stop()
	s.Finish(errSessionOver)
}

var errSessionOver = fmt.Errorf("the session was closed: %w", coord.ErrClosed)

// classify joins an error with the sentinel that the core branches on.
func classify(err error) error {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, dflockwire.ErrInvalid):
		return fmt.Errorf("%w: %w", coord.ErrInvalid, err)
	case certificate, errors.Is(err, dflockwire.ErrAuth), errors.Is(err, dflockwire.ErrLimitMismatch), errors.Is(err, dflockwire.ErrProtocol):
		return fmt.Errorf("%w: %w", coord.ErrRefused, err)
	}
	return err
}
