package ydbcoord_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

// lose runs f, whose answer is lost, and breaks the stream a moment later.
func (b *bench) lose(kind string, f func() error) error {
	b.DropReplies(kind, 1)
	var cutting sync.WaitGroup
	cutting.Go(func() {
		time.Sleep(100 * time.Millisecond)
		b.CutStreams()
	})
	defer cutting.Wait()
	return f()
}

func TestLostAnswersAreMadeUpForInTheWayOfEachRequest(t *testing.T) {
	t.Parallel()
	exists := func(b *bench, limit uint64, data string) func() error {
		return func() error { return b.CreateSemaphore(node, "s", limit, []byte(data)) }
	}
	create := func(s *ydbcoord.Session) error { return s.Create(context.Background(), "s", 3, []byte("d")) }
	for _, c := range []struct {
		name   string
		kind   string // of the answer that is lost
		before func(b *bench) func() error
		do     func(s *ydbcoord.Session) error
		want   error
	}{
		{"create", "create_semaphore_result", nil, create, nil},
		{"create of what is another's", "", func(b *bench) func() error { return exists(b, 3, "d") }, create, coord.ErrRefused},
		{"create of what is not as wanted", "create_semaphore_result", func(b *bench) func() error { return exists(b, 2, "d") }, create, coord.ErrRefused},
		{"create of what has other data", "create_semaphore_result", func(b *bench) func() error { return exists(b, 3, "e") }, create, coord.ErrRefused},
		{"delete", "delete_semaphore_result", func(b *bench) func() error { return exists(b, 1, "") },
			func(s *ydbcoord.Session) error { return s.Delete(context.Background(), "s", false) }, nil},
		{"delete of nothing", "", nil,
			func(s *ydbcoord.Session) error { return s.Delete(context.Background(), "s", false) }, coord.ErrNotFound},
		{"update", "update_semaphore_result", func(b *bench) func() error { return exists(b, 1, "") },
			func(s *ydbcoord.Session) error { return s.Update(context.Background(), "s", []byte("x")) }, nil},
		{"describe", "describe_semaphore_result", func(b *bench) func() error { return exists(b, 1, "") },
			func(s *ydbcoord.Session) error { _, err := s.Look(context.Background(), "s"); return err }, nil},
		{"acquire", "acquire_semaphore_result", func(b *bench) func() error { return exists(b, 1, "") },
			func(s *ydbcoord.Session) error {
				_, ok, err := s.Acquire(context.Background(), election("s"))
				if err == nil && !ok {
					return errors.New("missed")
				}
				return err
			}, nil},
		{"release", "release_semaphore_result", nil, func(s *ydbcoord.Session) error {
			g, _, err := s.Acquire(context.Background(), mutex("m"))
			if err != nil {
				return err
			}
			return g.Release(context.Background())
		}, nil},
		{"ping", "pong", nil, func(s *ydbcoord.Session) error { _, err := s.Renew(context.Background()); return err }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				if c.before != nil {
					noError(t, c.before(b)())
				}
				s := b.session(t, ydbcoord.Options{})
				do := func() error { return c.do(s) }
				var err error
				if c.kind == "" {
					err = do()
				} else {
					err = b.lose(c.kind, do)
				}
				if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		})
	}
}

func TestOnlyTheNewestUpdateIsRepeated(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		noError(t, b.CreateSemaphore(node, "s", 1, nil))
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		b.DropReplies("update_semaphore_result", 2)
		var done sync.WaitGroup
		for _, data := range []string{"old", "new"} {
			done.Go(func() {
				if err := s.Update(t.Context(), "s", []byte(data)); err != nil {
					t.Errorf("%s: %v", data, err)
				}
			})
			synctest.Wait()
		}
		b.CutStreams()
		done.Wait()
		var sent []string
		for _, m := range r.requests() {
			if m.GetUpdateSemaphore() != nil {
				sent = append(sent, string(m.GetUpdateSemaphore().GetData()))
			}
		}
		if len(sent) != 3 || sent[2] != "new" {
			t.Errorf("sent %q, want old, new and new again", sent)
		}
	})
}

// stuckPongs keeps whatever follows the first describe of the first stream from being sent
// until that stream ends, and notes what each stream was pinged with and answered.
type stuckPongs struct {
	mu     sync.Mutex
	pinged []map[uint64]bool
	wrong  int
}

func (p *stuckPongs) option() grpc.DialOption {
	return grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
		streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		inner, err := streamer(ctx, desc, cc, method, opts...)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pinged = append(p.pinged, map[uint64]bool{})
		return &stuckStream{ClientStream: inner, p: p, number: len(p.pinged) - 1}, err
	})
}

type stuckStream struct {
	grpc.ClientStream
	p      *stuckPongs
	number int
}

func (s *stuckStream) SendMsg(m any) error {
	req, _ := m.(*pb.SessionRequest)
	if s.number == 0 && req.GetDescribeSemaphore() != nil {
		<-s.Context().Done()
	}
	if pong := req.GetPong(); pong != nil {
		s.p.mu.Lock()
		if !s.p.pinged[s.number][pong.GetOpaque()] {
			s.p.wrong++
		}
		s.p.mu.Unlock()
	}
	return s.ClientStream.SendMsg(m)
}

func (s *stuckStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if reply, ok := m.(*pb.SessionResponse); ok && err == nil && reply.GetPing() != nil {
		s.p.mu.Lock()
		s.p.pinged[s.number][reply.GetPing().GetOpaque()] = true
		s.p.mu.Unlock()
	}
	return err
}

func TestPongsAnswerThePingsOfTheirOwnStreamOnly(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		p := &stuckPongs{}
		s := b.session(t, ydbcoord.Options{}, p.option())
		synctest.Wait() // the first ping is answered
		done := make(chan error)
		go func() { _, err := s.Look(t.Context(), "x"); done <- err }()
		time.Sleep(ttl / 2) // there was a ping meanwhile, whose pong is stuck behind the look
		b.CutStreams()
		if err := <-done; err != nil {
			t.Error(err)
		}
		time.Sleep(ttl / 2) // pings of the second stream are answered
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.wrong != 0 || len(p.pinged) != 2 || s.Err() != nil {
			t.Errorf("%d pongs for pings of another stream, %d streams, %v", p.wrong, len(p.pinged), s.Err())
		}
	})
}
