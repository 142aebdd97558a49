package ydbcoord_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

func starts(r *record) []*pb.SessionRequest_SessionStart {
	var list []*pb.SessionRequest_SessionStart
	for _, m := range r.requests() {
		if m.GetSessionStart() != nil {
			list = append(list, m.GetSessionStart())
		}
	}
	return list
}

func TestEachAttachHasAHigherSequenceNumberAndTheSessionsOwnKey(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		r, other := &record{}, &record{}
		b.session(t, ydbcoord.Options{}, r.option())
		b.session(t, ydbcoord.Options{}, other.option())
		for range 2 {
			time.Sleep(time.Second)
			b.CutStreams()
		}
		synctest.Wait()
		list := starts(r)
		if len(list) != 3 {
			t.Fatalf("%d attaches, want 3", len(list))
		}
		for i, s := range list {
			switch {
			case s.GetSeqNo() != uint64(i)+1:
				t.Errorf("attach %d has the sequence number %d", i, s.GetSeqNo())
			case len(s.GetProtectionKey()) != 16 || !bytes.Equal(s.GetProtectionKey(), list[0].GetProtectionKey()):
				t.Errorf("attach %d has the key %x", i, s.GetProtectionKey())
			case (s.GetSessionId() == 0) != (i == 0) || s.GetTimeoutMillis() != uint64(ttl.Milliseconds()):
				t.Errorf("attach %d is %v", i, s)
			}
		}
		if bytes.Equal(list[0].GetProtectionKey(), starts(other)[0].GetProtectionKey()) {
			t.Error("two sessions have one key")
		}
	})
}

func TestWindowCountsFromTheSendingAndIsMovedByEveryAnswer(t *testing.T) {
	t.Parallel()
	for what, ask := range map[string]func(context.Context, *bench, *ydbcoord.Session) error{
		"ping": func(ctx context.Context, _ *bench, s *ydbcoord.Session) error {
			asked := time.Now()
			w, err := s.Renew(ctx)
			if want := (coord.Window{Asked: asked, Valid: ttl, RenewIn: ttl / 3}); w != want {
				return fmt.Errorf("the window is %+v, want %+v (%w)", w, want, err)
			}
			return err
		},
		"result": func(ctx context.Context, _ *bench, s *ydbcoord.Session) error { _, err := s.Look(ctx, "x"); return err },
		"attach": func(_ context.Context, b *bench, _ *ydbcoord.Session) error {
			b.Delay(0, 0) // it would delay the cut, too
			b.CutStreams()
			synctest.Wait()
			return nil
		},
		"pending": func(ctx context.Context, _ *bench, s *ydbcoord.Session) error {
			_, err := s.Enqueue(ctx, mutex("taken"))
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				other := b.session(t, ydbcoord.Options{})
				keep(t, other)
				must(t, other, mutex("taken"))
				s := b.session(t, ydbcoord.Options{})
				time.Sleep(time.Second)
				b.Delay(0, 200*time.Millisecond)
				asked := time.Now()
				noError(t, ask(t.Context(), b, s))
				b.BlackHole(0, true)
				<-s.Done()
				if lived := time.Since(asked); lived != ttl {
					t.Errorf("it was over %v after that was sent, want %v", lived, ttl)
				}
				if !errors.Is(s.Err(), coord.ErrExpired) {
					t.Errorf("ended with %v, want ErrExpired", s.Err())
				}
				b.BlackHole(0, false)
			})
		})
	}
}

func TestSessionPingsThreeTimesATimeout(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		r := &record{}
		b.kept(t, ydbcoord.Options{}, r.option())
		time.Sleep(10 * ttl)
		r.mu.Lock()
		defer r.mu.Unlock()
		pings := 0
		for _, m := range r.sent {
			if m.GetPing() != nil {
				pings++
			}
		}
		if pings < 29 || pings > 32 {
			t.Errorf("%d pings in 10 timeouts, want 30", pings)
		}
	})
}

func TestBrokenStreamIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		keep(t, s)
		for _, cut := range []func(){b.CutStreams, func() { b.FailStreams(node, Ydb.StatusIds_UNAVAILABLE) }, func() { b.RestartTablet(node) }} {
			time.Sleep(2 * ttl)
			cut()
			synctest.Wait()
			if l := s.Status(); !l.Attached || !l.Since.Equal(time.Now()) {
				t.Errorf("the link is %+v", l)
			}
		}
		if s.Err() != nil || s.Status().Number != 4 {
			t.Errorf("after 3 breaks: %v, %+v", s.Err(), s.Status())
		}
	})
}

func TestTriesToAttachGrowApartAndEndWithTheWindow(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		b.FailCalls("Session", codes.Unavailable, 1_000_000)
		b.CutStreams()
		<-s.Done()
		if n := r.calls(); n < 4 || n > 20 {
			t.Errorf("%d calls in one window", n)
		}
		calls := r.calls()
		time.Sleep(5 * ttl)
		if r.calls() != calls {
			t.Error("it goes on trying after its end")
		}
	})
}

func TestStreamsThatBreakAsSoonAsTheyAreMadeAreNotMadeWithoutPause(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		for range 10_000 {
			if s.Err() != nil || time.Since(s.Status().Since) > ttl {
				break
			}
			if s.Status().Attached {
				b.FailStreams(node, Ydb.StatusIds_UNAVAILABLE)
			}
			time.Sleep(time.Millisecond)
		}
		if n := r.calls(); n > 60 {
			t.Errorf("%d streams in 10 s of breaking", n)
		}
	})
}

// deaf is a stream on which nothing is heard until it ends.
type deaf struct{ grpc.ClientStream }

func (d deaf) RecvMsg(any) error {
	<-d.Context().Done()
	return d.Context().Err()
}

func TestHungAttachIsGivenUpForAnotherStream(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		streams := 0
		s := b.session(t, ydbcoord.Options{}, grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc,
			cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			inner, err := streamer(ctx, desc, cc, method, opts...)
			if streams++; streams == 2 {
				return deaf{inner}, err
			}
			return inner, err
		}))
		b.CutStreams()
		time.Sleep(ttl * 3 / 4)
		if !s.Status().Attached || s.Err() != nil || streams != 3 {
			t.Errorf("the link is %+v, the session %v", s.Status(), s.Err())
		}
	})
}

// fork is a connection that leads by the way that is chosen.
type fork struct {
	ways []grpc.ClientConnInterface
	way  atomic.Int64
}

func (f *fork) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return f.ways[f.way.Load()].Invoke(ctx, method, args, reply, opts...)
}

func (f *fork) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return f.ways[f.way.Load()].NewStream(ctx, desc, method, opts...)
}

func TestSilentStreamIsLeftForAnotherWhileThereIsTime(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		f := &fork{ways: []grpc.ClientConnInterface{b.dial(t, 0), b.dial(t, 1)}}
		s, err := coord.Open(t.Context(), b.on(t, f, ydbcoord.Options{}), coord.SessionOptions{TTL: ttl})
		noError(t, err)
		t.Cleanup(s.Abandon)
		l, err := s.Mutex("m", coord.MutexOptions{}).Lock(t.Context())
		noError(t, err)
		time.Sleep(10 * ttl)
		b.BlackHole(0, true)
		f.way.Store(1)
		time.Sleep(10 * ttl)
		if l.Check() != nil {
			t.Errorf("the lease: %v", l.Check())
		}
		b.BlackHole(0, false)
	})
}

func TestFailuresAreFinalOrPass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status Ydb.StatusIds_StatusCode
		final  bool
		wraps  error
	}{
		{Ydb.StatusIds_SESSION_EXPIRED, true, coord.ErrLost},
		{Ydb.StatusIds_NOT_FOUND, true, coord.ErrNotFound},
		{Ydb.StatusIds_UNAUTHORIZED, true, coord.ErrRefused},
		{Ydb.StatusIds_BAD_REQUEST, true, coord.ErrRefused},
		{Ydb.StatusIds_PRECONDITION_FAILED, false, nil},
		{Ydb.StatusIds_UNAVAILABLE, false, nil},
		{Ydb.StatusIds_TIMEOUT, false, nil},
		{Ydb.StatusIds_OVERLOADED, false, nil},
		{Ydb.StatusIds_INTERNAL_ERROR, false, nil},
		{Ydb.StatusIds_BAD_SESSION, false, nil},
	} {
		t.Run(c.status.String(), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				r := &record{}
				s := b.session(t, ydbcoord.Options{}, r.option())
				b.FailStreams(node, c.status)
				synctest.Wait()
				switch {
				case !c.final && (s.Err() != nil || !s.Status().Attached):
					t.Errorf("not attached again: %v", s.Err())
				case c.final && (r.calls() != 1 || !errors.Is(s.Err(), c.wraps) || !errors.Is(s.Err(), coord.ErrLost)):
					t.Errorf("%d calls, ended with %v, want one and %v", r.calls(), s.Err(), c.wraps)
				}
			})
		})
	}
}

func TestCallsThatFailBelowTheServiceAreFinalOrPass(t *testing.T) {
	t.Parallel()
	for code, final := range map[codes.Code]bool{
		codes.Unavailable: false, codes.ResourceExhausted: false, codes.Internal: false, codes.DeadlineExceeded: false,
		codes.Unauthenticated: true, codes.PermissionDenied: true, codes.Unimplemented: true,
	} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				s := b.session(t, ydbcoord.Options{})
				b.FailCalls("Session", code, 1)
				b.CutStreams()
				time.Sleep(ttl / 2)
				if over := errors.Is(s.Err(), coord.ErrRefused); over != final {
					t.Errorf("ended with %v", s.Err())
				}
			})
		})
	}
}

func TestStolenSessionIsTakenBackIfThatIsPossibleAndElseLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		frontEnd int
		seqNo    uint64
		lost     bool
	}{
		{"by a local client", 0, 1, false},
		{"by a remote client", 1, 1, false},
		{"by a local client for good", 0, 1 << 63, true},
		{"by a remote client for good", 1, 1 << 63, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				r := &record{}
				s := b.session(t, ydbcoord.Options{}, r.option())
				g := must(t, s, mutex("m"))
				noError(t, b.Steal(c.frontEnd, node, b.Sessions(node)[0].ID, c.seqNo))
				synctest.Wait()
				if errors.Is(s.Err(), coord.ErrLost) != c.lost || (g.Err() != nil) != c.lost {
					t.Errorf("the session: %v, its grant: %v", s.Err(), g.Err())
				}
				if r.calls() != 2 {
					t.Errorf("%d streams, want 2", r.calls())
				}
			})
		})
	}
}

func TestLostRegistrationIsNoLoss(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		g := must(t, s, mutex("m"))
		noError(t, b.LoseRegistration(0, node))
		synctest.Wait()
		if s.Err() != nil || g.Err() != nil || !s.Status().Attached {
			t.Errorf("the session: %v, its grant: %v", s.Err(), g.Err())
		}
	})
}
