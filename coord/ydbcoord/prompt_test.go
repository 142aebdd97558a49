package ydbcoord_test

import (
	"testing"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

func TestANoticeThatWasHeldBackOnItsWaySaysSinceWhen(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		if err := b.CreateSemaphore(node, "s", 1, nil); err != nil {
			t.Fatal(err)
		}
		const long = 30 * time.Second
		s, err := b.driver(t, ydbcoord.Options{}).OpenSession(t.Context(), coord.SessionOptions{TTL: long})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Abandon)
		keep(t, s)
		f := s.Follow()
		if err := f.Add("s"); err != nil {
			t.Fatal(err)
		}
		next(t, f)
		time.Sleep(long/3 - time.Second) // a second before the next ping
		b.BlackHole(0, true)
		silent := time.Now()
		time.Sleep(2 * time.Second)
		if err := b.UpdateSemaphore(node, "s", []byte("x")); err != nil {
			t.Fatal(err)
		}
		happened := time.Now()
		time.Sleep(time.Second)
		b.BlackHole(0, false)
		state := next(t, f)
		if !state.Fired || state.Since.IsZero() || state.Since.After(happened) || state.Since.Before(silent.Add(-long/3)) {
			t.Errorf("told after %v; it happened at %v, the connection was silent from %v on", state.Since, happened, silent)
		}
		time.Sleep(long) // pings are answered again
		if err := b.UpdateSemaphore(node, "s", []byte("y")); err != nil {
			t.Fatal(err)
		}
		if state := next(t, f); !state.Fired || !state.Since.IsZero() {
			t.Errorf("told at once: %+v", state)
		}
	})
}

func TestALookThatIsSentOnceMoreIsDatedByItsFirstSending(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		if err := b.CreateSemaphore(node, "s", 1, nil); err != nil {
			t.Fatal(err)
		}
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
		if err := b.CreateSemaphore(node, "s", 1, nil); err != nil {
			t.Fatal(err)
		}
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

func TestANoticeSaysSinceWhenIfThePingsHadStopped(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		if err := b.CreateSemaphore(node, "s", 1, nil); err != nil {
			t.Fatal(err)
		}
		s := b.session(t, ydbcoord.Options{})
		f := s.Follow()
		if err := f.Add("s"); err != nil {
			t.Fatal(err)
		}
		next(t, f)
		for _, data := range []string{"x", "y"} {
			for range 5 {
				if _, err := s.Renew(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Millisecond)
			}
			if err := b.UpdateSemaphore(node, "s", []byte(data)); err != nil {
				t.Fatal(err)
			}
			if state := next(t, f); !state.Fired || !state.Since.IsZero() {
				t.Errorf("told after %v, and it was pinged all the time", state.Since)
			}
			last := time.Now()
			time.Sleep(300 * time.Millisecond) // as a program that is suspended
			if err := b.UpdateSemaphore(node, "s", []byte(data+data)); err != nil {
				t.Fatal(err)
			}
			if state := next(t, f); !state.Fired || state.Since.IsZero() || state.Since.After(last) {
				t.Errorf("told after %v, the last ping was sent at %v", state.Since, last)
			}
		}
	})
}
