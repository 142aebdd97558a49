package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

func TestWhatLiesBetweenTwoLooksIsPrintedAsAnInterval(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	d.feed.Tell(sources.Event{Seq: 1, At: noon(), After: noon().Add(-2 * time.Second), Kind: sources.EventAcquired, Ref: a.Ref,
		Owner: sources.OwnerRef{ID: "x", Label: "x"}, Gap: sources.Interval{Min: time.Second, Max: 3 * time.Second}})
	d.send(terminal.WakeMsg{})
	d.press("enter")
	d.shows(t, "acquired it, gap 1.0 s to 3.0 s within 2.0 s")
	d.shows(t, "~12:00:00.0")
}

func TestEventsAreShownAsTheyComeUntilThereAreTooMany(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	seq := uint64(0)
	tell := func(n int) {
		for range n {
			seq++
			d.feed.Tell(sources.Event{Seq: seq, At: noon(), Kind: sources.EventAcquired, Ref: a.Ref,
				Owner: sources.OwnerRef{ID: "x", Label: fmt.Sprintf("owner-%d", seq)}})
		}
		d.send(terminal.WakeMsg{})
	}
	d.Pane = screen.EventPane
	tell(50)
	d.shows(t, "owner-50 ") // what was there at the start
	d.pass(1)
	tell(1)
	tell(2)
	d.shows(t, "owner-53 ")
	d.showsNot(t, "once a second")
	tell(1)
	d.showsNot(t, "owner-54 ")
	d.pass(1)
	d.shows(t, "owner-54 ")
	d.shows(t, "newest first, drawn once a second: many changes")
	tell(1)
	d.showsNot(t, "owner-55 ")
	d.pass(1)
	d.shows(t, "owner-55 ")
	d.showsNot(t, "once a second")
}

func TestCalmEventsAreNotListed(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	for i, k := range []sources.EventKind{sources.EventPresent, sources.EventSynced, sources.EventRenewed, sources.EventWaiterJoined} {
		d.feed.Tell(sources.Event{Seq: uint64(i + 1), At: noon(), Kind: k, Ref: a.Ref})
	}
	d.send(terminal.WakeMsg{})
	d.Pane = screen.EventPane
	d.pass(1)
	d.shows(t, "no event since 12:00:00")
}

func TestChatterOfARowIsOneLineAndALossIsNot(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 160, Height: 48})
	seq := uint64(0)
	tell := func(kind sources.Kind, e sources.EventKind, second int, owner string, cause sources.Cause) {
		seq++
		o := sources.OwnerRef{ID: owner, Label: owner}
		d.feed.Tell(sources.Event{Seq: seq, At: noon().Add(time.Duration(second) * time.Second), Kind: e, RefKind: kind, Cause: cause,
			Ref: sources.Ref{Source: uitest.Redis, Name: kind.String() + "-1"}, Owner: o, Previous: o})
	}
	for i := range 4 {
		tell(sources.KindSemaphore, sources.EventAcquired, i, "p", sources.CauseUnknown)
		tell(sources.KindMutex, sources.EventOwnerChanged, i, "m", sources.CauseReleased)
		tell(sources.KindElection, sources.EventOwnerChanged, i, "e", sources.CauseReleased)
	}
	tell(sources.KindSemaphore, sources.EventReleased, 3, "p", sources.CauseUnknown)
	tell(sources.KindMutex, sources.EventExpired, 4, "m", sources.CauseExpired)
	tell(sources.KindSemaphore, sources.EventAcquired, 12, "p", sources.CauseUnknown)
	d.send(terminal.WakeMsg{})
	d.shows(t, "semaphore-1   p is gone, not told why, 4 earlier changes in 3.0 s")
	d.shows(t, "12:00:12.0 semaphore-1   p acquired it")
	d.shows(t, "12:00:04.0 mutex-1       m lost it")
	d.shows(t, ", 3 earlier changes in 3.0 s")
	for i := range 4 {
		d.shows(t, fmt.Sprintf("12:00:0%d.0 election-1", i))
	}
	d.press("5")
	d.shows(t, "12:00:01.0 semaphore-1   p acquired it")
}

func TestLossesAreLoudAndHandOversGrey(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 160, Height: 48})
	o := sources.OwnerRef{ID: "o", Label: "o"}
	for _, c := range []struct {
		kind  sources.EventKind
		cause sources.Cause
		loss  bool
		want  string
	}{
		{sources.EventAcquired, sources.CauseUnknown, false, ""}, {sources.EventAcquired, sources.CauseUnknown, true, "acquired it after a loss"},
		{sources.EventOwnerChanged, sources.CauseUnknown, false, ""}, {sources.EventOwnerChanged, sources.CauseReleased, false, ""},
		{sources.EventOwnerChanged, sources.CauseExpired, true, "lost it"},
		{sources.EventReleased, sources.CauseReleased, false, ""}, {sources.EventReleased, sources.CauseUnknown, false, ""},
		{sources.EventReleased, sources.CauseSession, false, ""}, {sources.EventReleased, sources.CauseSession, true, "lost it"},
		{sources.EventReleased, sources.CauseRestart, true, "lost it"}, {sources.EventReleased, sources.CauseEvicted, true, "lost it"},
		{sources.EventExpired, sources.CauseExpired, true, "lost it"},
	} {
		loud := ""
		e := sources.Event{Kind: c.kind, Cause: c.cause, Loss: c.loss, Ref: a.Ref, RefKind: a.Kind, Owner: o, Previous: o, Gap: sources.Interval{Min: 2 * time.Second, Max: 3 * time.Second}}
		for _, p := range screen.EventText(&d.Scene, &e) {
			if p.Style == d.Theme.Bad || p.Style == d.Theme.Warn {
				loud += p.Text
			}
		}
		if loud != c.want {
			t.Errorf("%v, %v, loss %v: %q is loud, want %q", c.kind, c.cause, c.loss, loud, c.want)
		}
	}
}

func TestOnlyTheLossOfWhatShouldBeOwnedIsRed(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	a.Kind, b.Kind, b.Expected = sources.KindMutex, sources.KindMutex, true
	d := drive(newTestFeed(uitest.State(noon(), a, b)), Options{Width: 160, Height: 48})
	gone := sources.Ref{Source: uitest.Redis, Name: "gone"}
	o := sources.OwnerRef{ID: "o", Label: "o"}
	for _, kind := range []sources.EventKind{sources.EventAcquired, sources.EventOwnerChanged, sources.EventReleased, sources.EventExpired} {
		for _, c := range []struct {
			name string
			ref  sources.Ref
			kind sources.Kind
			want paint.Style
		}{
			{"a lock", a.Ref, sources.KindMutex, d.Theme.Warn},
			{"a lock that is expected to be owned", b.Ref, sources.KindMutex, d.Theme.Bad},
			{"a lock that is forgotten", gone, sources.KindMutex, d.Theme.Warn},
			{"an election that is forgotten", gone, sources.KindElection, d.Theme.Bad},
		} {
			e := sources.Event{Kind: kind, Cause: sources.CauseExpired, Loss: true, Ref: c.ref, RefKind: c.kind, Owner: o, Previous: o}
			if !slices.ContainsFunc(screen.EventText(&d.Scene, &e), func(p paint.Part) bool {
				return p.Style == c.want && (strings.Contains(p.Text, "lost it") || strings.Contains(p.Text, "after a loss"))
			}) {
				t.Errorf("%s, %v: its loss has another style", c.name, kind)
			}
		}
	}
}

// The owner before and the stretch in which it happened are never cut: names give their last
// words, then asides go.
func TestALineOfAnEventKeepsTheOwnerBeforeAndTheStretch(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	o := sources.OwnerRef{ID: "o", Label: "closing-batch pid 29186"}
	p := sources.OwnerRef{ID: "p", Label: "closing-after pid 29187"}
	for w, want := range map[int]string{
		160: "closing-batch pid 29186 acquired from   closing-after pid 29187 (~session ended) within 230 ms",
		115: "closing-batch… acquired from   closing-after pid 29187 (~session ended) within 230 ms",
		100: "closing-batch… acquired from   closing-after… within 230 ms",
		80:  "closing-b… acquired from   closing-aft… within 230 ms",
	} {
		d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: w, Height: 24})
		d.feed.Tell(sources.Event{Seq: 1, At: noon(), After: noon().Add(-230 * time.Millisecond), Kind: sources.EventOwnerChanged, Ref: a.Ref, RefKind: a.Kind,
			Owner: o, Previous: p, Cause: sources.CauseSession, How: sources.Inferred})
		d.send(terminal.WakeMsg{})
		d.press("5")
		d.shows(t, want)
	}
}

func TestTheNumberOfAConnectionIsNeverCutFromItsName(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 160, Height: 48})
	e := sources.Event{Seq: 1, At: noon(), After: noon().Add(-501 * time.Millisecond), Kind: sources.EventOwnerChanged, RefKind: a.Kind, Loss: true, Cause: sources.CauseEvicted,
		Ref: sources.Ref{Source: uitest.Redis, Name: "demo/leader/dispatch-eu"}, Owner: sources.OwnerRef{ID: "c17", Label: "conn 17"}, Previous: sources.OwnerRef{ID: "c16", Label: "conn 16"}}
	d.feed.Tell(e)
	d.send(terminal.WakeMsg{})
	d.shows(t, "conn 16 lost it to   conn 17")
	d.shows(t, "within 501 ms")
}

func TestTheBeginningOfAConflictIsALineOfItsOwn(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 160, Height: 48})
	for i, detail := range []string{"", "while y owns it too", ""} {
		d.feed.Tell(sources.Event{Seq: uint64(i + 1), At: noon().Add(time.Duration(i) * time.Second), Kind: sources.EventAcquired, RefKind: sources.KindMutex,
			Ref: sources.Ref{Source: uitest.Redis, Name: "m"}, Owner: sources.OwnerRef{ID: "x", Label: "x"}, Detail: detail})
	}
	d.send(terminal.WakeMsg{})
	d.shows(t, "12:00:01.0 m            x acquired it while y owns it too")
	d.shows(t, "x acquired it, 1 earlier")
}

func TestAFilterThatHidesAllEventsSaysNothingOfManyChanges(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 160, Height: 48})
	tell := func(from, to uint64) {
		for seq := from; seq < to; seq++ {
			d.feed.Tell(sources.Event{Seq: seq, At: noon(), Kind: sources.EventProclaimed, Ref: a.Ref})
		}
		d.pass(1)
	}
	tell(1, 2)
	tell(2, 9)
	tell(9, 16)
	d.shows(t, "drawn once a second: many changes")
	d.press("/")
	d.typed("nobody")
	d.shows(t, "no event since 12:00:00")
	d.showsNot(t, "many changes")
}
