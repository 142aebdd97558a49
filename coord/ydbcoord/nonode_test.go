package ydbcoord_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

func TestMissingNodeIsRefusedAtOnceWithItsCause(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Conn: b.dial(t, 0), Database: "/local"})
		noError(t, err)
		d, err := c.Driver("missing", ydbcoord.Options{})
		noError(t, err)
		began := time.Now()
		_, err = d.Open(t.Context(), coord.SessionOptions{})
		if !errors.Is(err, coord.ErrRefused) || !errors.Is(err, coord.ErrNotFound) || time.Since(began) != 0 || !strings.Contains(err.Error(), " /local/missing:") {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

func TestDroppedNodeEndsItsSessions(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Conn: b.dial(t, 0), Database: "/local"})
		noError(t, err)
		noError(t, c.Nodes().Drop(t.Context(), node))
		<-s.Done()
		if !errors.Is(s.Err(), coord.ErrNotFound) {
			t.Errorf("ended with %v, want ErrNotFound", s.Err())
		}
	})
}

func TestSessionsAndCandidatesOutliveANodeThatIsDroppedAndCreatedAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		d := b.driver(t, ydbcoord.Options{CreateElections: true})
		c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Conn: b.dial(t, 0), Database: "/local"})
		noError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		elected := make(chan struct{}, 1)
		candidate := coord.NewCandidate(d, coord.SessionOptions{TTL: ttl}, "e", coord.LeadOptions{
			OnElected: func(context.Context, *coord.Term) error { elected <- struct{}{}; return nil },
		})
		ended := make(chan error, 1)
		go func() { ended <- candidate.Run(ctx) }()
		<-elected
		noError(t, c.Nodes().Drop(t.Context(), node))
		time.Sleep(time.Minute)
		noError(t, b.CreateNode(node))
		created := time.Now()
		select {
		case <-elected:
			t.Logf("leads again %v after the node is back", time.Since(created))
		case err := <-ended:
			t.Fatalf("the candidate has given up: %v", err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestClaimsOfADroppedNodeSaySoOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		d := b.driver(t, ydbcoord.Options{})
		c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Conn: b.dial(t, 0), Database: "/local"})
		noError(t, err)
		claim := make(chan error, 2)
		for range 2 { // one owns, one waits
			s, err := coord.Open(t.Context(), d, coord.SessionOptions{TTL: ttl})
			noError(t, err)
			defer s.Abandon()
			go func() { // ends with the node
				l, err := s.Mutex("m", coord.MutexOptions{}).Lock(t.Context())
				if err == nil {
					<-l.Context().Done()
					err = context.Cause(l.Context())
				}
				claim <- err
			}()
		}
		synctest.Wait()
		noError(t, c.Nodes().Drop(t.Context(), node))
		for range 2 {
			err := <-claim
			if n := strings.Count(err.Error(), "does not find the coordination node"); n != 1 || !errors.Is(err, coord.ErrLost) || !errors.Is(err, coord.ErrNotFound) {
				t.Errorf("said %d times in %v", n, err)
			}
		}
	})
}
