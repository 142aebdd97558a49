package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// says checks a sentence that may be folded over some lines of a dialog.
func (d *driver) says(t *testing.T, sentence string) {
	t.Helper()
	if text := d.sentences(); !strings.Contains(text, sentence) {
		t.Errorf("the frame does not say %q:\n%s", sentence, d.text())
	}
}

// sentences is what stands in a dialog, without its frame and its folds.
func (d *driver) sentences() string {
	var words []string
	for _, line := range d.lines() {
		if _, in, found := strings.Cut(line, "│"); found {
			in, _, _ = strings.Cut(in, "│")
			words = append(words, strings.Fields(in)...)
		}
	}
	return strings.Join(words, " ")
}

// mutex is a row that host-1 owns.
func mutex(owner string, fence uint64) *sources.Primitive {
	p := uitest.Led("a", owner, noon())
	p.Kind = sources.KindMutex
	p.Owners[0].Fence, p.Owners[0].Guard = fence, "v1"
	return p
}

// tried opens the box of a try, which is pinned to the owner.
func tried(t *testing.T) (*driver, *testOperator, *sources.Primitive) {
	t.Helper()
	a := mutex("host-1", 7)
	d, op := armed(a)
	op.Offer, op.Effect = []action.Choice{{Verb: action.Try}, {Verb: action.Acquire}}, effect()
	d.act("a", "t")
	d.shows(t, "Try to acquire a")
	return d, op, a
}

func TestABoxWhoseTargetChangedSendsNothing(t *testing.T) {
	t.Parallel()
	free := mutex("host-1", 7)
	free.Owners = nil
	shared := mutex("host-1", 7)
	shared.Owners[0].Mode = sources.Shared
	for name, c := range map[string]struct {
		now  *sources.Primitive
		says string
	}{
		"another owner":  {mutex("host-9", 7), "host-1 owned it when you decided, now host-9 does"},
		"nobody":         {free, "host-1 owned it when you decided, now nobody does"},
		"a later term":   {mutex("host-1", 8), "host-1 owned it with fence 7 when you decided, now with fence 8"},
		"no fence":       {mutex("host-1", 0), "now with no fence"},
		"another mode":   {shared, "now in shared mode"},
		"no row":         {uitest.Led("b", "host-1", noon()), "it is not listed any more"},
		"another kind":   {uitest.Led("a", "host-1", noon()), "it was listed as mutex when you decided, now as election"},
		"another source": {elsewhere(), "it is not listed any more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, paused := range []bool{false, true} {
				d, op, _ := tried(t)
				if paused {
					d.pause()
				}
				d.press("tab") // the button is on
				d.show(uitest.State(noon(), c.now))
				d.says(t, c.says)
				d.says(t, "; nothing will be sent")
				d.showsNot(t, "Cancel")
				d.feed.Pass(time.Second)
				d.press("enter", "tab", "enter", "tab", "enter", "y")
				if len(op.Begun()) > 0 {
					t.Errorf("begun %+v", op.Begun())
				}
			}
		})
	}
}

// elsewhere is a row of the same name at another source.
func elsewhere() *sources.Primitive {
	p := mutex("host-1", 7)
	p.Source = "jobs"
	return p
}

func TestWhatIsSaidOfAChangeStaysTrue(t *testing.T) {
	t.Parallel()
	d, op, a := tried(t)
	free := mutex("host-1", 7)
	free.Owners = nil
	d.show(uitest.State(noon(), mutex("host-9", 9)))
	d.says(t, "changed: host-1 owned it when you decided, now host-9 does; nothing will be sent")
	d.says(t, "owner host-9")
	d.show(uitest.State(noon(), free))
	d.says(t, "changed: host-1 owned it when you decided, now nobody does; nothing will be sent")
	d.says(t, "owner nobody")
	d.showsNot(t, "host-9")
	d.show(uitest.State(noon(), uitest.Led("b", "host-1", noon())))
	d.says(t, "changed: it is not listed any more; nothing will be sent")
	d.show(uitest.State(noon(), a))
	d.says(t, "changed since you decided, and changed back; nothing will be sent")
	d.says(t, "r decide anew")
	if len(op.Begun()) > 0 {
		t.Errorf("begun %+v", op.Begun())
	}
}

func TestADecisionIsMadeAnewAboutTheRowAsItIsNow(t *testing.T) {
	t.Parallel()
	d, op, _ := tried(t)
	d.press("shift+tab")
	d.typed("INC-7")
	op.Effect.NeedsName = "a"
	d.show(uitest.State(noon(), mutex("host-9", 9)))
	d.typed("r") // it was meant for the reason
	d.shows(t, "changed: host-1")
	d.feed.Pass(400*time.Millisecond - time.Millisecond)
	d.typed("r")
	d.shows(t, "changed: host-1")
	d.send(tea.PasteMsg{Content: "r"})
	d.feed.Pass(time.Millisecond)
	d.act("r")
	d.showsNot(t, "changed")
	d.says(t, "owner host-9")
	d.says(t, "reason INC-7")
	d.shows(t, "(needs the name)")
	d.typed("a") // more of what was being typed
	d.shows(t, "(needs the name)")
	d.feed.Pass(400 * time.Millisecond)
	d.typed("a")
	d.press("tab", "tab", "enter")
	got := op.Begun()
	if len(got) != 1 || got[0].Target.Owner != "host-9" || got[0].Target.Fence != 9 || got[0].Reason != "INC-7" || got[0].Typed != "a" {
		t.Errorf("begun %+v", got)
	}
}

func TestWhatWasChosenIsKeptWhereADecisionIsMadeAnew(t *testing.T) {
	t.Parallel()
	d, op, _ := tried(t)
	d.press("esc")
	op.Effect.TakesMode, op.Effect.TakesData, op.Effect.DataMax = true, true, 100
	d.act("a", "t", "tab", "tab", "s", "tab")
	d.typed("hello")
	d.show(uitest.State(noon(), mutex("host-9", 9)))
	d.feed.Pass(400 * time.Millisecond)
	d.act("r")
	d.feed.Pass(400 * time.Millisecond)
	d.shows(t, "[shared]")
	d.act("tab", "enter")
	if got := op.Begun(); len(got) != 1 || got[0].Mode != sources.Shared || string(got[0].Data) != "hello" || got[0].Target.Owner != "host-9" {
		t.Errorf("begun %+v", got)
	}
}

func TestAClaimThatQueuesFollowsWhoeverOwnsItsRow(t *testing.T) {
	t.Parallel()
	for _, v := range []action.Verb{action.Acquire, action.Campaign} {
		row := func(owner string) *sources.Primitive {
			p := mutex(owner, 7)
			if v == action.Campaign {
				p.Kind = sources.KindElection
			}
			return p
		}
		d, op := armed(row("host-1"))
		op.Offer, op.Effect = []action.Choice{{Verb: v}}, effect()
		d.press("a")
		d.show(uitest.State(noon(), row("host-2"))) // under the menu
		d.says(t, "owner host-2")
		d.act("a")
		d.press("tab")
		for _, owner := range []string{"host-3", "host-4", "host-5"} { // under the box
			op.Effect.Lines = []string{"We would lead a.", owner + " owns it now."}
			d.feed.Set(uitest.State(noon(), row(owner)))
			d.await(d.send(terminal.WakeMsg{}))
			d.says(t, "owner "+owner)
			d.says(t, owner+" owns it now.")
			d.showsNot(t, "changed")
		}
		d.show(uitest.State(noon(), uitest.Led("b", "host-1", noon())))
		d.says(t, "changed: it is not listed any more; nothing will be sent")
		d.show(uitest.State(noon(), row("host-6"))) // and is again
		d.showsNot(t, "changed")
		d.act("tab", "enter") // from Cancel: the button was off
		if got := op.Begun(); len(got) != 1 || got[0].Target.Owner != "host-6" {
			t.Errorf("begun %+v", got)
		}
	}
}

func TestABoxForPermitsOutlivesTheirOwners(t *testing.T) {
	t.Parallel()
	pool := func(owner string, limit uint64) *sources.Primitive {
		p := uitest.Led("a", owner, noon())
		p.Kind, p.Limit, p.LimitHow, p.Taken = sources.KindSemaphore, limit, sources.Told, 1
		return p
	}
	for limit, begun := range map[uint64]int{3: 1, 1: 0} {
		d, op := armed(pool("host-1", limit))
		op.Offer, op.Effect = []action.Choice{{Verb: action.Try}}, effect()
		d.act("a", "t")
		d.show(uitest.State(noon(), pool("host-2", limit)))
		d.act("tab", "enter")
		if got := op.Begun(); len(got) != begun {
			t.Errorf("limit %d: begun %+v", limit, got)
		}
	}
}

func TestTheTargetIsLookedAtOnceMoreBeforeSending(t *testing.T) {
	t.Parallel()
	d, op, _ := tried(t)
	d.press("tab")
	d.feed.Set(uitest.State(noon(), mutex("host-9", 9))) // nobody has woken the program yet
	d.press("enter")
	if len(op.Begun()) > 0 {
		t.Errorf("begun %+v", op.Begun())
	}
	d.says(t, "now host-9 does; nothing will be sent")
}

func TestABoxSaysThatItsActionIsNotPossibleForNow(t *testing.T) {
	t.Parallel()
	d, op, _ := tried(t)
	d.press("tab")
	op.Offer = []action.Choice{{Verb: action.Try, Not: "what is shown of it is old: its source is silent"}}
	d.pass(1)
	d.says(t, "not possible now: what is shown of it is old: its source is silent; nothing will be sent")
	d.shows(t, "(not possible now)")
	d.press("enter")
	d.act("a", "t") // enter was on Cancel
	if len(op.Begun()) > 0 {
		t.Fatalf("begun %+v", op.Begun())
	}
	op.Offer[0].Not = ""
	d.pass(1)
	d.act("a", "t", "tab", "enter")
	if len(op.Begun()) != 1 {
		t.Errorf("begun %+v", op.Begun())
	}
}

func TestABoxSaysThatWritingHasEnded(t *testing.T) {
	t.Parallel()
	d, op, _ := tried(t)
	op.Change(func(s *action.Status) { s.Always, s.Armed = false, noon().Add(2*time.Second) })
	d.pass(1)
	d.press("tab")
	d.showsNot(t, "writing is off")
	d.pass(1)
	d.says(t, "writing has ended: arm it again and decide anew; nothing will be sent")
	d.shows(t, "(writing is off)")
	d.press("enter")
	if len(op.Begun()) > 0 {
		t.Errorf("begun %+v", op.Begun())
	}
}

func TestOnTheBoardAWaitEndsAfterFiveMinutesUnlessSomethingElseIsTyped(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]time.Duration{"": 5 * time.Minute, "30s": 30 * time.Second, "forever": 0} {
		d, op, _ := boxed(t, effect())
		d.shows(t, "wait      5m; or 30s, 1h ..., or forever")
		d.press("tab", "tab")
		d.typed(typed)
		d.act("tab", "tab", "tab", "enter")
		if got := op.Begun(); len(got) != 1 || got[0].Wait != want {
			t.Errorf("%q: begun %+v", typed, got)
		}
	}
}

func TestAQuestionAboutAWaitFollowsItsWin(t *testing.T) {
	t.Parallel()
	a := mutex("host-1", 7)
	d, op := armed(a)
	op.Offer, op.Effect = []action.Choice{{Verb: action.Resign}}, action.Effect{Lines: []string{"You leave the queue."}}
	op.Change(func(s *action.Status) {
		s.Holdings = []action.Holding{{Ref: a.Ref, Waiting: true, Since: noon()}}
		s.Always = false // which giving back does not need
	})
	d.send(terminal.WakeMsg{})
	d.act("a", "r")
	d.shows(t, "You leave the queue.")
	op.Effect.Lines = []string{"You give it up."}
	op.Change(func(s *action.Status) { s.Holdings = []action.Holding{{Ref: a.Ref, Owner: "us", Since: noon()}} })
	d.await(d.send(terminal.WakeMsg{}))
	d.shows(t, "You give it up.")
	other := slices.Clone(op.Status().Holdings)
	other[0].Owner = "us again"
	op.Change(func(s *action.Status) { s.Holdings = other })
	d.send(terminal.WakeMsg{})
	d.says(t, "changed: what we hold of it is not what we held when you decided; nothing will be sent")
	d.feed.Pass(time.Second)
	d.act("r", "y")
	if len(op.Begun()) > 0 { // the new question ignores keys for a moment
		t.Fatalf("begun %+v", op.Begun())
	}
	d.feed.Pass(time.Second)
	d.act("y")
	if len(op.Begun()) != 1 {
		t.Errorf("begun %+v", op.Begun())
	}
}

func TestABusyRowIsAskedAboutOnceAtATime(t *testing.T) {
	t.Parallel()
	d, op, a := boxed(t, effect())
	op.Hold = make(chan struct{})
	var asked []tea.Cmd
	for _, owner := range []string{"host-2", "host-3", "host-4"} {
		d.feed.Set(uitest.State(noon(), uitest.Led(a.Name, owner, noon())))
		if cmd := d.send(terminal.WakeMsg{}); cmd != nil {
			asked = append(asked, cmd)
		}
	}
	if len(asked) != 1 {
		t.Fatalf("asked %d times before there was an answer", len(asked))
	}
	op.Effect.Lines = []string{"host-4 owns it now."}
	close(op.Hold)
	answer := asked[0]()
	if answer == nil {
		t.Fatal("no answer")
	}
	again := d.send(answer)
	if again == nil {
		t.Fatal("what changed meanwhile is not asked about")
	}
	d.await(again)
	d.says(t, "host-4 owns it now.")
}
