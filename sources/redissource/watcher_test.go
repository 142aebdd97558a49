package redissource

import (
	"context"
	"errors"
	"testing"
	"time"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// still is a watcher whose first sweep is over and that tracks app: without a server.
func still(t *testing.T) *watcher {
	t.Helper()
	o := Options{Name: "src", Selections: []Selection{{Pattern: "app:*"}}, Client: rediscoord.ClientOptions{}}.withDefaults()
	return &watcher{
		link: &link{o: &o, selected: compile(o.Selections), inbox: newInbox(), hints: &focusHints{}, push: &pushConn{mode: modeTracking, prefixes: []string{"app:"}}}, space: "0", keys: map[string]*key{}, capacity: newCapacity(compile(o.Selections), nil),
		before: &server{}, listing: listing{complete: true, listed: ms(-5000)},
	}
}

// pushedAt is a notice of a push that came promptly.
func pushedAt(at int, events ...string) notice {
	return notice{first: ms(at), last: ms(at), floor: ms(at - 10), events: events}
}

// provedAt has the push connection proved current at that time.
func (w *watcher) provedAt(at int) {
	w.link.heartbeat.sent(ms(at))
	w.link.heartbeat.answered(ms(at))
}

func TestChangeThatIsReadBeforeItsPushWaitsForIt(t *testing.T) {
	t.Parallel()
	w := still(t)
	look := func(r *reading, n notice) (finding, bool) { return w.examine("app:leader:x", r, n) }
	first := pushedAt(1)
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
		f, ok := look(lockReading(5004, uuidB, 30*time.Second-4*time.Millisecond), pushedAt(5003))
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
	w.link.push = &pushConn{mode: modeEvents, patterns: []string{"app:*"}}
	w.examine("app:leader:x", lockReading(0, uuidA, 30*time.Second), pushedAt(1, "set"))
	if f, ok := w.examine("app:leader:x", missingReading(5), pushedAt(4, "expire")); ok {
		t.Fatalf("told before its event: %+v", f)
	}
	f, ok := w.examine("app:leader:x", missingReading(7), pushedAt(6, "del"))
	if !ok || f.ended == nil || f.ended.Cause != sources.CauseReleased || f.ended.How != sources.Told || f.when != (span{at: ms(6)}) {
		t.Errorf("%+v, %v", f, ok)
	}
}

func TestExpiryWaitsForNoPush(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.examine("app:leader:x", lockReading(0, uuidA, time.Second), pushedAt(1))
	w.provedAt(1003)
	f, ok := w.examine("app:leader:x", missingReading(1004), notice{})
	if !ok || f.when != (span{ms(999), ms(1006)}) || len(f.prim.Owners) != 0 {
		t.Errorf("%+v, %v", f, ok)
	}
}

// TestAnEndMayBeAsEarlyAsTheLastProofThatNothingWasPushed holds back what the server pushes:
// the owner may have released it meanwhile.
func TestAnEndMayBeAsEarlyAsTheLastProofThatNothingWasPushed(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.examine("app:leader:x", lockReading(0, uuidA, time.Second), pushedAt(1))
	w.provedAt(400)
	if f, ok := w.examine("app:leader:x", missingReading(1004), notice{}); ok {
		t.Errorf("told before it was proved that nothing was pushed: %+v", f)
	}
	f, ok := w.examine("app:leader:x", missingReading(1400), notice{})
	if !ok || f.when != (span{ms(400), ms(1402)}) || len(w.unseen) != 1 || w.unseen[0].From != ms(400) {
		t.Errorf("%+v, %v, unseen %+v", f, ok, w.unseen)
	}
	w.examine("app:leader:x", lockReading(2000, uuidA, time.Second), pushedAt(2001))
	w.provedAt(3001)
	w.link.inbox.add("app:leader:x", pushedAt(3000), "") // it came while the key was read
	if f, ok = w.examine("app:leader:x", missingReading(3004), notice{}); ok {
		t.Errorf("with a push unread: %+v", f)
	}
}

// TestAFreeKeyThatWasWrittenUnseenIsNotObserved has pushes about free keys that look as
// before: somebody came and went.
func TestAFreeKeyThatWasWrittenUnseenIsNotObserved(t *testing.T) {
	t.Parallel()
	late := notice{first: ms(5000), last: ms(5000), floor: ms(4200)}
	tests := []struct {
		name string
		n    notice
		r    *reading
		poll bool
		want span
	}{
		{"the pushes were late", late, missingReading(5001), false, span{ms(4200), ms(5003)}},
		{"and somebody owns it", late, lockReading(5001, uuidB, time.Hour), false, span{ms(4200), ms(5003)}},
		{"the read was late", notice{first: ms(5000), last: ms(5002), floor: ms(4990)}, missingReading(5100), false, span{ms(4990), ms(5102)}},
		{"all was prompt", pushedAt(5000), missingReading(5001), false, span{}},
		{"nothing was pushed", notice{}, missingReading(5001), false, span{}},
		{"it was looked at in time", notice{}, missingReading(600), true, span{}},
		{"it was not looked at in time", notice{}, missingReading(5001), true, span{ms(200), ms(5003)}},
	}
	for _, tt := range tests {
		w := still(t)
		if tt.poll {
			w.link.push = nil
		}
		w.examine("app:leader:x", lockReading(0, uuidA, time.Hour), pushedAt(1))
		w.examine("app:leader:x", missingReading(200), pushedAt(199))
		w.examine("app:leader:x", tt.r, tt.n)
		var got span
		if len(w.unseen) == 1 && w.unseen[0].Ref.Name == "app:leader:x" {
			got = span{w.unseen[0].From, w.unseen[0].To}
		}
		if got != tt.want || len(w.unseen) > 1 {
			t.Errorf("%s: %v", tt.name, w.unseen)
		}
	}
}

func TestPushedExpiryIsNoInstant(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.examine("app:leader:x", lockReading(0, uuidA, time.Second), pushedAt(1))
	f, ok := w.examine("app:leader:x", missingReading(1021), pushedAt(1020)) // the server was slow to delete it
	if !ok || f.when != (span{ms(999), ms(1020)}) {
		t.Errorf("%+v, %v", f, ok)
	}
}

// TestALeaseThatIsOverEndedBeforeItsLatePush has pushes held up until after the lease: its
// end is not as late as the last ping that was answered before they came.
func TestALeaseThatIsOverEndedBeforeItsLatePush(t *testing.T) {
	t.Parallel()
	late := notice{first: ms(1100), last: ms(1100), floor: ms(1060)}
	tests := []struct {
		name string
		n    notice
		r    *reading
		want span
	}{
		{"it is deleted", late, missingReading(1101), span{ms(999), ms(1103)}},
		{"somebody else has taken it", late, lockReading(1101, uuidB, time.Hour), span{ms(999), ms(1103)}},
		{"somebody else has just taken it", pushedAt(1100), lockReading(1101, uuidB, time.Hour), span{ms(999), ms(1100)}},
		{"somebody else took it at the end", pushedAt(1010), lockReading(1011, uuidB, time.Hour), span{at: ms(1010)}},
		{"it is renewed", late, lockReading(1101, uuidA, time.Hour), span{ms(1060), ms(1103)}},
		{"pings were not answered since", notice{first: ms(1100), last: ms(1100), floor: ms(600)}, missingReading(1101), span{ms(600), ms(1103)}},
	}
	for _, tt := range tests {
		w := still(t)
		w.examine("app:leader:x", lockReading(0, uuidA, time.Second), pushedAt(1))
		if f, ok := w.examine("app:leader:x", tt.r, tt.n); !ok || f.when != tt.want {
			t.Errorf("%s: %v to %v, %v", tt.name, f.when.after.Sub(epoch), f.when.at.Sub(epoch), ok)
		}
	}
}

func TestPolledExpiryMayHaveBeenARelease(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.link.push = nil
	w.examine("app:leader:x", lockReading(0, uuidA, time.Second), notice{})
	f, ok := w.examine("app:leader:x", missingReading(1004), notice{})
	if !ok || f.when != (span{ms(0), ms(1006)}) {
		t.Errorf("%+v, %v", f, ok)
	}
}

func TestNewKeyOfACompleteListingCameAfterIt(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.link.push = nil
	f, ok := w.examine("app:leader:x", lockReading(0, uuidA, time.Second), notice{})
	if !ok || f.unread != nil || f.when != (span{ms(-5000), ms(2)}) {
		t.Errorf("%+v, %v", f, ok)
	}
	w.listing.complete = false
	if f, ok := w.examine("app:leader:y", lockReading(0, uuidA, time.Second), pushedAt(1)); !ok || f.unread == nil || !f.unread.At.IsZero() {
		t.Errorf("of an incomplete listing: %+v, %v", f, ok)
	}
}

func TestKeyThatWouldNotStandStillIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.examine("app:leader:x", lockReading(0, uuidA, time.Second), pushedAt(1))
	w.ends.due(ms(60_000), chunk)
	if _, ok := w.examine("app:leader:x", nil, notice{}); ok {
		t.Error("something is told of it")
	}
	if w.ends.next().IsZero() {
		t.Error("nobody looks at it again")
	}
}

func TestForgottenKeysTakeNoMemory(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.link = newLink(t.Context(), w.link.o, w.link.selected, nil)
	w.link.push = nil
	for _, name := range []string{"app:old", "app:new", "app:held"} {
		w.examine(name, lockReading(0, uuidA, time.Second), notice{})
	}
	w.examine("app:old", missingReading(1000), notice{})
	w.examine("app:new", missingReading(50_000), notice{})
	w.link.Start(func() error { return w.forget(ms(1000).Add(w.link.o.Forget + time.Second)) })
	c, err := w.link.Next(t.Context())
	noError(t, err)
	if len(c.Gone) != 1 || c.Gone[0].Name != "app:old" || len(w.keys) != 2 || len(w.poll.names) != 2 {
		t.Errorf("gone %v, kept %v, polled %q", c.Gone, w.keys, w.poll.names)
	}
	w.link.Link.Close()
}

func TestPanicOfTheWatcherEndsTheLinkOnly(t *testing.T) {
	t.Parallel()
	s := New(Options{Name: "src"})
	l := newLink(spawn.With(t.Context(), func(*spawn.Panic) {}), &s.o, s.selected, nil)
	l.Start(func() error { panic("boom") })
	<-l.Context().Done()
	s.Dial = func(context.Context) (kit.Conn, error) { return l, nil }
	noError(t, s.Connect(t.Context()))
	if _, err := s.Next(t.Context()); err == nil {
		t.Error("no error")
	} else if !errors.Is(err, spawn.ErrPanic) {
		t.Error(err)
	}
	l.Link.Close()
}
