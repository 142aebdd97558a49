package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/terminal"
)

func TestHelpNamesEveryKey(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	d.send(tea.WindowSizeMsg{Width: 120, Height: 230})
	d.press("?")
	named := map[keys.Intent]string{} // the keys that stand on a line before one of the intent's texts
	for line := range strings.Lines(d.text()) {
		for _, a := range keys.Bindings() {
			if bound, _, ok := strings.Cut(line, " "+a.Help); ok {
				named[a.Intent] += bound + " "
			}
		}
	}
	for _, a := range keys.Bindings() {
		for _, k := range a.Keys {
			if !strings.Contains(named[a.Intent], " "+k+" ") {
				t.Errorf("%s is not named for %q: %q are", k, a.Help, named[a.Intent])
			}
		}
		d.shows(t, a.Help)
	}
}

func TestEveryIntentIsCarriedOut(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	for _, act := range keys.Bindings() {
		for _, s := range []keys.Context{keys.InLocks, keys.InDetail, keys.InHelp, keys.InInput, keys.InEvents, keys.InSources, keys.InCommand, keys.InHelpText, keys.InSort} {
			if act.Context&s == 0 {
				continue
			}
			d := hand(a, b, c)
			d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
			d.press("j")
			switch s {
			case keys.InDetail:
				d.press("enter", "j")
			case keys.InHelp:
				d.press("?", "j")
			case keys.InInput:
				d.press("/", "x")
			case keys.InEvents:
				d.feed.Tell(sources.Event{Seq: 1, At: noon(), Kind: sources.EventAcquired, Ref: b.Ref}, sources.Event{Seq: 2, At: noon(), Kind: sources.EventAcquired, Ref: a.Ref},
					sources.Event{Seq: 3, At: noon(), Kind: sources.EventAcquired, Ref: a.Ref})
				d.send(terminal.WakeMsg{})
				d.press("5", "j")
			case keys.InSources:
				d.send(tea.WindowSizeMsg{Width: 80, Height: 10})
				d.press("o", "j")
			case keys.InCommand:
				d.press(":", "q", "enter", ":", "s", "o", "enter", ":", "s")
				if act.Intent == keys.Later {
					d.press("up", "up")
				}
			case keys.InHelpText:
				d.press("?", "l", "down", "down")
			case keys.InSort:
				d.press("s")
			case keys.InLocks:
				if act.Intent == keys.Clear {
					d.press("/", "x", "enter")
				}
			}
			before := d.View().Content
			quiet := s == keys.InDetail && act.Intent != keys.Back // its text fits the screen: nothing to scroll
			quiet = quiet || s == keys.InHelp && (act.Intent == keys.Up || act.Intent == keys.Top)
			quiet = quiet || s == keys.InLocks && act.Intent == keys.Locks || s == keys.InEvents && act.Intent == keys.Events || s == keys.InSources && act.Intent == keys.Sources
			for _, k := range act.Keys {
				cmd := d.send(key(k))
				if cmd == nil && d.View().Content == before && d.View().Cursor == nil && !quiet {
					t.Errorf("%s (%s) does nothing in context %d", act.Intent, k, s)
				}
				break
			}
		}
	}
}

func TestEveryIntentHasAHandler(t *testing.T) {
	t.Parallel()
	all := handlers()
	for _, b := range keys.Bindings() {
		switch b.Intent {
		case keys.Quit, keys.Arm, keys.Actions, keys.Crash: // of what acts
			continue
		}
		if _, ok := all[b.Intent]; !ok && b.Context&^keys.InDialogs != 0 {
			t.Errorf("%s has no handler", b.Intent)
		}
		for _, k := range b.Keys {
			_, _, takes := strings.Cut(k, " ")
			if takes && all[b.Intent].arguments == nil {
				t.Errorf("what is typed behind %s is not completed", k)
			}
		}
	}
}

func TestASplitArrowDoesNotClearTheFilter(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	d.joiner.Remote = true
	d.press("/", "b", "enter", "esc", "[", "B")
	if d.rowList.filtering.typed() != "b" {
		t.Errorf("the filter is %q", d.rowList.filtering.typed())
	}
}

func TestTheDemoNamesTheKeyThatEndsAProcess(t *testing.T) {
	t.Parallel()
	for _, demo := range []bool{false, true} {
		d := drive(newTestFeed(scene(t).State()), Options{Width: 80, Height: 24, Demo: demo})
		lines := d.lines()
		if footer := lines[len(lines)-1]; strings.Contains(footer, "X crash its process") != demo {
			t.Errorf("demo %v: %q", demo, footer)
		}
	}
}
