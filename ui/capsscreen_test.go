package ui

import (
	"slices"
	"strings"
	"testing"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// able is what can be done with three sources.
func able() []action.Ability {
	return []action.Ability{
		{Source: "archive", Type: "redis", ReadOnly: true, Choices: []action.Choice{{Verb: action.Acquire, Not: "the config says read_only for this source"}}},
		{Source: "leases", Type: "redis", Protect: true, Choices: []action.Choice{{Verb: action.Acquire}, {Verb: action.Resign}, {Verb: action.Create, Not: "redis has \x1b[2Jnone"}},
			Lines: []string{"mutexes; others see 9 bytes", "no queue"}},
		{Source: "ledger", Type: "postgres", Choices: []action.Choice{{Verb: action.Acquire}}},
	}
}

func TestCapsListsWhatIsAWriteAndWhatEachSourceCan(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	op.Able = able()
	for _, keys := range [][]string{{":", "c", "a", "p", "s", "enter"}, {"o", "c"}} {
		d.send(key("2"))
		d.press(keys...)
		text := d.text()
		for _, want := range []string{"what counts as a write", "acquire           takes a mutex or permits", "NO WRITES"} {
			if !strings.Contains(text, want) {
				t.Fatalf("after %v it does not show %q:\n%s", keys, want, text)
			}
		}
		if strings.Contains(text, "the process") { // of crash, which no source here has
			t.Errorf("it shows what no source can:\n%s", text)
		}
	}
	d.press("G")
	d.shows(t, "leases  redis, protected: its name is typed")
	d.shows(t, "can               acquire, resign")
	d.shows(t, `cannot            create: redis has \x1b[2Jnone`)
	d.shows(t, "no queue")
	d.press("esc")
	d.shows(t, "SOURCES how each is read")
	d.press("esc")
	b := hand(a)
	b.press(":", "c", "a", "p", "s", "enter")
	b.shows(t, screen.ReadOnlyText)
}

func TestWritingIsArmedOnEveryScreen(t *testing.T) {
	t.Parallel()
	for screen, want := range map[string]struct {
		keys []string
		arms string
	}{
		"list":    {nil, "arm leases "},
		"detail":  {[]string{"enter"}, "arm leases "},
		"events":  {[]string{"5"}, "arm other "},
		"sources": {[]string{"o"}, "arm ledger "},
		"caps":    {[]string{"o", "c"}, "arm ledger "},
	} {
		t.Run(screen, func(t *testing.T) {
			t.Parallel()
			a, _, _ := three()
			d, op := armed(a)
			op.Able = able()
			op.Change(func(s *action.Status) { s.Always = false })
			d.feed.Tell(sources.Event{Seq: 1, At: noon(), Kind: sources.EventAcquired, Ref: sources.Ref{Source: "other", Name: "gone"}})
			d.send(terminal.WakeMsg{})
			d.press(want.keys...)
			d.press("W", "y")
			if !slices.Equal(op.Called(), []string{want.arms}) {
				t.Errorf("called %q, want %q", op.Called(), want.arms)
			}
		})
	}
}

func TestActionsOnEventsAreDoneToTheRowOfTheEventAsItIsNow(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	d, op := armed(a, b)
	d.feed.Tell(
		sources.Event{Seq: 1, At: noon(), Kind: sources.EventSourceUp, Ref: sources.Ref{Source: "leases"}},
		sources.Event{Seq: 2, At: noon(), Kind: sources.EventAcquired, Ref: sources.Ref{Source: "leases", Name: "gone"}},
		sources.Event{Seq: 3, At: noon(), Kind: sources.EventAcquired, Ref: b.Ref, RefKind: b.Kind, Owner: sources.OwnerRef{ID: "somebody else"}},
	)
	d.send(terminal.WakeMsg{})
	d.act("5", "a")
	d.feed.Tell(sources.Event{Seq: 4, At: noon(), Kind: sources.EventAcquired, Ref: a.Ref}) // the menu stays where it was opened
	d.send(terminal.WakeMsg{})
	d.act("a", "tab", "enter")
	if got := op.Begun(); len(got) != 1 || got[0].Target.Ref != b.Ref || got[0].Target.Owner != b.Owners[0].ID {
		t.Errorf("begun %+v", got)
	}
	for _, c := range []struct{ down, text string }{{"j", "gone does not exist any more"}, {"G", "this event is about a source"}} {
		d.press(c.down, "a")
		d.shows(t, c.text)
		if d.acting.Open() {
			t.Errorf("a menu is open where %s", c.text)
		}
	}
	if e := drive(newTestFeed(uitest.State(noon(), a)), Options{Operator: op}); e != nil {
		e.press("5", "a")
		e.shows(t, "there is no event yet, and so no row: 2 lists the rows")
	}
}
