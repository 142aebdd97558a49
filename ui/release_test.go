package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/ground/raced"
	"coordtop/sources"
	"coordtop/ui/dialog"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// stuckName is typed by nobody by accident.
const stuckName = "app:lock:stuck"

// stuck drives a board whose one row is a lock with these owners, with an operator that demands its
// name for everything.
func stuck(owners ...string) (*driver, *testOperator, *sources.Primitive) {
	p := uitest.Led(stuckName, owners[0], noon())
	p.Kind = sources.KindMutex
	first := p.Owners[0]
	p.Owners = nil
	for _, id := range owners {
		o := first
		o.ID, o.Label, o.Guard, o.Mode = id, id, "guard of "+id, sources.Shared
		p.Owners = append(p.Owners, o)
	}
	d, op := armed(p)
	op.Offer = []action.Choice{{Verb: action.Release}, {Verb: action.Acquire}, {Verb: action.CancelWait, Not: "no waiter is known"}, {Verb: action.Resign, Not: "not ours"}}
	op.Effect = action.Effect{Lines: []string{"Ends the ownership.", "It may go on working until it notices."}, Call: "DEL if unchanged", Next: "w-1 is first in the queue",
		NeedsName: stuckName, Danger: true}
	return d, op, p
}

func TestAForceReleaseNeedsTheNameAndIsPinnedToTheOwnerOnScreen(t *testing.T) {
	t.Parallel()
	d, op, p := stuck("host-1")
	d.act("a")
	d.shows(t, "x  force-release: end what another owns")
	d.shows(t, "cancel-wait: no waiter is known")
	d.act("x")
	for _, want := range []string{"Force-release app:lock:stuck in leases, prod-eu", "• It may go on working until it notices.", "runs      DEL if unchanged",
		"next      w-1 is first in the queue", "type the name to confirm", "Release  (needs the name)"} {
		d.shows(t, want)
	}
	d.press("tab", "tab", "enter", "y", "enter")
	d.send(tea.PasteMsg{Content: stuckName + "\ny"})
	d.press("enter", "enter") // the name stands there, and enter goes on to Cancel
	if len(op.Begun()) > 0 {
		t.Fatalf("begun %+v", op.Begun())
	}
	d.act("a", "x", "tab", "tab")
	d.typed(stuckName)
	d.act("tab", "tab", "enter")
	want := action.TargetOf(uitest.Row(p, 0), &p.Owners[0])
	if got := op.Begun(); len(got) != 1 || got[0].Verb != action.Release || got[0].Target != want || got[0].Typed != stuckName {
		t.Errorf("begun %+v", got)
	}
}

func TestAForceReleaseIsOffOnceTheOwnerIsAnother(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(o *sources.Owner){
		"another owner": func(o *sources.Owner) { o.ID, o.Label = "host-2", "host-2" },
		"another guard": func(o *sources.Owner) { o.Guard = "of its next term" },
		"another fence": func(o *sources.Owner) { o.Fence++ },
	} {
		d, op, p := stuck("host-1")
		d.act("a", "x", "tab", "tab")
		d.typed(stuckName)
		d.act("tab", "tab")
		other := *p
		other.Owners = slices.Clone(p.Owners)
		change(&other.Owners[0])
		d.show(uitest.State(noon(), &other))
		d.shows(t, "changed: ")
		d.show(uitest.State(noon(), p)) // it changes back
		d.feed.Pass(time.Second)
		d.shows(t, "changed since you decided")
		d.act("enter", "tab", "enter", "y")
		if len(op.Begun()) > 0 {
			t.Errorf("%s: begun %+v", name, op.Begun())
		}
		d.act("r")
		d.showsNot(t, "changed since you decided")
		d.shows(t, "(needs the name)") // it is to be typed again
	}
}

func TestOneOfSeveralOwnersIsChosenAndKeptUnderTheCursor(t *testing.T) {
	t.Parallel()
	d, op, p := stuck("host-1", "host-2", "host-3")
	op.Kept = map[string]string{"host-3": "its lease ends in 9 s"}
	d.act("a", "x")
	d.shows(t, "Force-release app:lock:stuck in leases: which one?")
	d.shows(t, "host-3: its lease ends in 9 s")
	d.act("enter")
	d.shows(t, "nothing is chosen: j goes to the first")
	d.act("j", "j", "j", "enter")
	d.shows(t, "not possible: its lease ends in 9 s")
	d.act("k")
	moved := *p
	moved.Owners = slices.Clone(p.Owners)
	slices.Reverse(moved.Owners)
	moved.Owners[1], moved.Owners[2] = moved.Owners[2], moved.Owners[1] // host-2 is the last
	d.show(uitest.State(noon(), &moved))
	d.act("enter", "tab", "tab")
	d.typed(stuckName)
	d.act("tab", "tab", "enter")
	if got := op.Begun(); len(got) != 1 || got[0].Target.Owner != "host-2" || got[0].Target.Guard != "guard of host-2" {
		t.Errorf("begun %+v", got)
	}
	d.act("a", "x", "j", "j")
	gone := *p
	gone.Owners = p.Owners[1:]
	d.show(uitest.State(noon(), &gone)) // host-1, which was chosen, is gone
	d.act("enter")
	d.shows(t, "nothing is chosen")
	if len(op.Begun()) != 1 {
		t.Errorf("begun %+v", op.Begun())
	}
}

func TestOwnersOfOneNameAreToldApartByTheirData(t *testing.T) {
	t.Parallel()
	d, _, p := stuck("host-1", "host-2", "host-3")
	p.Owners[1].Label = "host-1"
	p.Owners[0].Data, p.Owners[1].Session = sources.NewBlob([]byte("connection=4"), 12), "4711"
	d.show(uitest.State(noon(), p))
	d.act("a", "x")
	d.shows(t, "connection=4")
	d.shows(t, "4711")
}

func TestTheWaitOfOneInTheQueueIsEnded(t *testing.T) {
	t.Parallel()
	d, op, p := stuck("host-1")
	op.Offer = []action.Choice{{Verb: action.CancelWait}}
	p.Queue = sources.Queue{How: sources.Told, Len: 2, Waiters: []sources.Waiter{{ID: "w-1", Label: "w-1", Guard: "g1"}, {ID: "w-2", Label: "w-2", Guard: "g2"}}}
	d.show(uitest.State(noon(), p))
	d.act("a", "e", "j", "j", "enter")
	d.shows(t, "ends      the wait of w-2")
	d.shows(t, "End the wait  (needs the name)")
	d.act("tab")
	d.act("tab")
	d.typed(stuckName)
	d.act("tab", "tab", "enter")
	if got := op.Begun(); len(got) != 1 || got[0].Verb != action.CancelWait || !got[0].Target.Waiting || got[0].Target.Guard != "g2" {
		t.Errorf("begun %+v", got)
	}
}

// randomKeys are pressed at random: those of the menu and its boxes most often.
var randomKeys = append(strings.Fields("a a x x e j j k tab tab tab shift+tab enter enter enter enter y y r r esc W n p c t 1 2 3 4 5 6 o ? : / s ! up down pgup pgdown home end backspace ctrl+u ctrl+d ctrl+l K z m u i q"),
	" ", "[", "O", "A", "s", "k", "l", "X", "Q", "*", "M", "é", "界")

// TestRandomKeysAndPastesReleaseNothing goes back to the list and opens the box now and then, so that
// many of the keys meet it.
func TestRandomKeysAndPastesReleaseNothing(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it presses forty thousand keys, one after another")
	presses := 40_000
	if testing.Short() { // of fewer, some meet no box
		presses = 4_000
	}
	const shares = 4
	for seed := range uint64(shares) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { pressAtRandom(t, rand.New(rand.NewPCG(seed, 1)), presses/shares) })
		})
	}
}

func pressAtRandom(t *testing.T, chance *rand.Rand, presses int) {
	t.Helper()
	d, op, p := stuck([]string{"host-1", "host-2"}[:1+chance.IntN(2)]...)
	pastes := []string{"y", "y\n", "\ry\r", stuckName[:8] + "\n", "x" + stuckName + "\r\n\r\n", "\x1b[A\ny"}
	boxes := 0
	for range presses {
		switch n := chance.IntN(200); {
		case n == 0:
			d.obey(d.send(tea.PasteMsg{Content: pastes[chance.IntN(len(pastes))]}))
		case n == 1:
			d.send(tea.WindowSizeMsg{Width: chance.IntN(120), Height: chance.IntN(40)})
		case n == 2:
			d.pass(1)
		case n == 3:
			other := *p
			other.Owners = slices.Clone(p.Owners)
			other.Owners[0].Fence = chance.Uint64N(3)
			d.show(uitest.State(noon(), &other))
		case n == 4:
			op.Change(func(s *action.Status) { s.Always = true })
			d.send(terminal.WakeMsg{})
		case n < 9:
			for _, k := range strings.Fields("esc esc esc 2 a x j enter") {
				d.obey(d.send(key(k)))
			}
		default:
			name := randomKeys[chance.IntN(len(randomKeys))]
			k := tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
			if utf8.RuneCountInString(name) > 1 {
				k = key(name)
			}
			d.obey(d.send(k))
		}
		if _, open := d.acting.Target(); open {
			boxes++
		}
	}
	if got := op.Begun(); len(got) > 0 {
		t.Errorf("begun %+v", got[0])
	}
	if boxes < presses/20 {
		t.Errorf("a box was open after %d of %d keys only: the keys are not the right ones", boxes, presses)
	}
}

// obey carries out a command with all that it brings, timers too.
func (d *driver) obey(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.obey(c)
		}
	case dialog.DoneMsg, terminal.JoinTimeout, auditMsg:
		d.obey(d.send(msg))
	}
}

func TestOurActionIsMarkedOnTheStripBesideTheOwnerThatFollows(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	st := uitest.State(noon(), a)
	row := *st.Rows[0]
	first := sources.OwnerRef{ID: "old", Label: "old"}
	row.Terms = []sources.Term{
		{Owner: first, Start: sources.Stamp{At: noon().Add(-time.Minute), How: sources.Seen}, End: sources.Stamp{At: noon().Add(-20 * time.Second), How: sources.Seen}},
		{Owner: sources.OwnerRef{ID: "host-1", Label: "host-1"}, Start: sources.Stamp{At: noon().Add(-20 * time.Second), How: sources.Seen}, Hue: 1},
	}
	st.Rows[0] = &row
	st.Scopes[0].Dark = nil
	d := drive(newTestFeed(st), Options{Width: 160, Height: 48})
	d.feed.Tell(sources.Event{Seq: 1, At: noon().Add(-time.Minute), Kind: sources.EventPresent, Ref: a.Ref},
		sources.Event{Seq: 2, At: noon().Add(-20 * time.Second), Kind: sources.EventAction, Ref: a.Ref, Detail: "release by ana: done"})
	d.pass(1)
	d.shows(t, "━XB━")
	d.press("?", "/")
	d.typed("action of ours")
	d.shows(t, "6 lists those of all")
}

func TestTheMenuNamesAReleaseByOneWordAndSaysOfEachVerbThatWritingIsOff(t *testing.T) {
	t.Parallel()
	d, op, _ := stuck("host-1")
	d.disarm(op)
	d.act("a")
	d.shows(t, "x  force-release: writing is off")
	d.shows(t, "acquire: writing is off")
}

func TestTheMenuDoesNotSayThatNobodyOwnsWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	for how, want := range map[sources.Known]string{sources.Unknown: "owner ?  this backend does not tell", sources.Told: "owner nobody"} {
		p := uitest.Led(stuckName, "x", noon())
		p.Kind, p.Owners, p.OwnersHow = sources.KindMutex, nil, how
		d, _ := armed(p)
		d.act("a")
		d.shows(t, want)
	}
}
