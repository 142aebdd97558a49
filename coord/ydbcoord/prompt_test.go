package ydbcoord_test

import (
	"fmt"
	"testing"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord/ydbcoord"
)

func TestAFiredWatchSaysWhichAnswerCameBeforeIt(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		noError(t, b.CreateSemaphore(node, "s", 1, nil))
		s := b.session(t, ydbcoord.Options{})
		f := s.Follow()
		noError(t, f.Add("s"))
		if state := next(t, f); state.Fired || !state.Since.IsZero() {
			t.Errorf("no watch has fired: %+v", state)
		}
		for held := range 4 {
			time.Sleep(time.Millisecond)
			pinged := time.Now()
			if _, err := s.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			b.BlackHole(0, true)
			noError(t, b.UpdateSemaphore(node, "s", fmt.Append(nil, held)))
			time.Sleep(time.Duration(held) * ttl / 10)
			b.BlackHole(0, false)
			if state := next(t, f); !state.Fired || !state.Since.Equal(pinged) {
				t.Errorf("since %v, the last ping that was answered was sent at %v", state.Since, pinged)
			}
		}
	})
}

func TestALookThatIsSentOnceMoreIsDatedByItsFirstSending(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		noError(t, b.CreateSemaphore(node, "s", 1, nil))
		s := b.session(t, ydbcoord.Options{})
		keep(t, s)
		began := time.Now()
		b.Delay(0, ttl/3) // the answer comes when the look was sent again
		state, err := s.Look(t.Context(), "s")
		if err != nil || state.Asked.After(began) {
			t.Errorf("asked at %v, %v after it was sent first: %v", state.Asked, state.Asked.Sub(began), err)
		}
	})
}

// TestASessionIsTrustedFromTheFirstSendingOfWhatIsSentOnceMore has the answer to the first sending
// arrive after the second, and nothing after that.
func TestASessionIsTrustedFromTheFirstSendingOfWhatIsSentOnceMore(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		noError(t, b.CreateSemaphore(node, "s", 1, nil))
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		time.Sleep(ttl / 5)
		if _, err := s.Renew(t.Context()); err != nil { // so that the stream is not silent for too long
			t.Fatal(err)
		}
		began := time.Now()
		b.Delay(0, ttl/3)
		if _, err := s.Look(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		b.BlackHole(0, true)
		if n := r.count(func(m *pb.SessionRequest) bool { return m.GetDescribeSemaphore() != nil }); n != 2 {
			t.Fatalf("the look was sent %d times, want twice", n)
		}
		<-s.Done()
		if trusted := time.Since(began); trusted != ttl {
			t.Errorf("trusted for %v after the first sending, want %v", trusted, ttl)
		}
		b.BlackHole(0, false)
	})
}
