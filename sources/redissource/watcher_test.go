package redissource

import (
	"errors"
	"testing"
	"time"

	"coordtop/coord/rediscoord"
	"coordtop/internal/spawn"
	"coordtop/sources"
)

// still is a watcher whose first sweep is over and that tracks app: without a server.
func still(t *testing.T) *watcher {
	t.Helper()
	o := Options{Name: "src", Selections: []Selection{{Pattern: "app:*"}}, Client: rediscoord.ClientOptions{}}.withDefaults()
	return &watcher{
		link: &link{o: &o, selected: compile(o.Selections), inbox: newInbox()}, space: "0", keys: map[string]*key{},
		hints: newHints(), push: &pushConn{mode: modeTracking, prefixes: []string{"app:"}}, complete: true, listed: ms(-5000),
	}
}

func TestChangeThatIsReadBeforeItsPushWaitsForIt(t *testing.T) {
	t.Parallel()
	w := still(t)
	look := func(r *reading, n notice) (finding, bool) { return w.take("app:leader:x", r, n) }
	first := notice{first: ms(1), last: ms(1)}
	if f, ok := look(lockReading(0, uuidA, 30*time.Second), first); !ok || f.when != (span{at: ms(1)}) {
		t.Fatalf("pushed: %+v, %v", f, ok)
	}
	if f, ok := look(lockReading(5000, uuidB, 30*time.Second), notice{}); ok {
		t.Fatalf("told before its push: %+v", f)
	}
	k := w.keys["app:leader:x"]
	if want := ms(5002).Add(patience); !k.lookAt.Equal(want) {
		t.Errorf("looked at again at %v", k.lookAt.Sub(epoch))
	}
	t.Run("the push comes", func(t *testing.T) {
		f, ok := look(lockReading(5004, uuidB, 30*time.Second-4*time.Millisecond), notice{first: ms(5003), last: ms(5003)})
		if !ok || f.when != (span{at: ms(5003)}) {
			t.Errorf("%+v, %v", f, ok)
		}
	})
	t.Run("no push comes", func(t *testing.T) {
		if _, ok := look(lockReading(9000, uuidA, 30*time.Second), notice{}); ok {
			t.Fatal("told before its push")
		}
		f, ok := look(lockReading(9012, uuidA, 30*time.Second-12*time.Millisecond), notice{})
		if !ok || f.when != (span{ms(5004), ms(9014)}) {
			t.Errorf("%+v, %v", f, ok)
		}
	})
}

func TestEndThatNoEventExplainsWaitsForItsEvent(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.push = &pushConn{mode: modeEvents, patterns: []string{"app:*"}}
	pushed := func(at int, events ...string) notice { return notice{first: ms(at), last: ms(at), events: events} }
	w.take("app:leader:x", lockReading(0, uuidA, 30*time.Second), pushed(1, "set"))
	if f, ok := w.take("app:leader:x", missingReading(5), pushed(4, "expire")); ok {
		t.Fatalf("told before its event: %+v", f)
	}
	f, ok := w.take("app:leader:x", missingReading(7), pushed(6, "del"))
	if !ok || f.ended == nil || f.ended.Cause != sources.CauseReleased || f.ended.How != sources.Told || f.when != (span{at: ms(6)}) {
		t.Errorf("%+v, %v", f, ok)
	}
}

func TestExpiryWaitsForNoPush(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.take("app:leader:x", lockReading(0, uuidA, time.Second), notice{first: ms(1), last: ms(1)})
	f, ok := w.take("app:leader:x", missingReading(1004), notice{})
	if !ok || f.when != (span{ms(999), ms(1006)}) || len(f.prim.Owners) != 0 {
		t.Errorf("%+v, %v", f, ok)
	}
}

func TestPushedExpiryIsNoInstant(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.take("app:leader:x", lockReading(0, uuidA, time.Second), notice{first: ms(1), last: ms(1)})
	f, ok := w.take("app:leader:x", missingReading(1021), notice{first: ms(1020), last: ms(1020)}) // the server was slow to delete it
	if !ok || f.when != (span{ms(999), ms(1020)}) {
		t.Errorf("%+v, %v", f, ok)
	}
}

func TestPolledExpiryMayHaveBeenARelease(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.push = nil
	w.take("app:leader:x", lockReading(0, uuidA, time.Second), notice{})
	f, ok := w.take("app:leader:x", missingReading(1004), notice{})
	if !ok || f.when != (span{ms(0), ms(1006)}) {
		t.Errorf("%+v, %v", f, ok)
	}
}

func TestNewKeyOfACompleteListingCameAfterIt(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.push = nil
	f, ok := w.take("app:leader:x", lockReading(0, uuidA, time.Second), notice{})
	if !ok || f.unread != nil || f.when != (span{ms(-5000), ms(2)}) {
		t.Errorf("%+v, %v", f, ok)
	}
	w.complete = false
	if f, ok := w.take("app:leader:y", lockReading(0, uuidA, time.Second), notice{first: ms(1), last: ms(1)}); !ok || f.unread == nil || !f.unread.At.IsZero() {
		t.Errorf("of an incomplete listing: %+v, %v", f, ok)
	}
}

func TestKeyThatWouldNotStandStillIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.take("app:leader:x", lockReading(0, uuidA, time.Second), notice{first: ms(1), last: ms(1)})
	w.ends.due(ms(60_000), chunk)
	if _, ok := w.take("app:leader:x", nil, notice{}); ok {
		t.Error("something is told of it")
	}
	if w.ends.next().IsZero() {
		t.Error("nobody looks at it again")
	}
}

func TestForgottenKeysTakeNoMemory(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.link = newLink(t.Context(), w.o, w.selected, nil)
	w.push = nil
	for _, name := range []string{"app:old", "app:new", "app:held"} {
		w.take(name, lockReading(0, uuidA, time.Second), notice{})
	}
	w.take("app:old", missingReading(1000), notice{})
	w.take("app:new", missingReading(50_000), notice{})
	w.Start(func() error { return w.forget(ms(1000).Add(w.o.Forget + time.Second)) })
	c, err := w.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Gone) != 1 || c.Gone[0].Name != "app:old" || len(w.keys) != 2 || len(w.poll.names) != 2 {
		t.Errorf("gone %v, kept %v, polled %q", c.Gone, w.keys, w.poll.names)
	}
	w.Link.Close()
}

func TestPanicOfTheWatcherEndsTheLinkOnly(t *testing.T) {
	t.Parallel()
	s := New(Options{Name: "src"})
	l := newLink(spawn.With(t.Context(), func(*spawn.Panic) {}), &s.o, s.selected, nil)
	l.Start(func() error { panic("boom") })
	<-l.Context().Done()
	s.link = l
	if _, err := s.Next(t.Context()); err == nil {
		t.Error("no error")
	} else if !errors.Is(err, spawn.ErrPanic) {
		t.Error(err)
	}
	l.Link.Close()
}
