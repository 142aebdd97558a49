package ui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/ui/terminal"
)

func TestNoKeyMeansTwoThingsInOneScope(t *testing.T) {
	t.Parallel()
	for _, s := range []scope{inList, inDetail, inHelp, inInput, inEvents, inSources, inCommand, inHelpText, inSort} {
		seen := map[string]intent{}
		for _, a := range bindings() {
			for _, k := range a.keys {
				if other, ok := seen[k]; ok && a.scope&s != 0 {
					t.Errorf("%s means %s and %s", k, other, a.intent)
				}
				if a.scope&s != 0 {
					seen[k] = a.intent
				}
			}
		}
	}
}

func TestKeysThatOthersTakeAreNotBound(t *testing.T) {
	t.Parallel()
	banned := strings.Fields("ctrl+a ctrl+b ctrl+space ctrl+s ctrl+q ctrl+h ctrl+i ctrl+j ctrl+k ctrl+m A B C D H F P R S [ O backspace delete")
	for _, a := range bindings() {
		for _, k := range a.keys {
			if slices.Contains(banned, k) || strings.HasPrefix(k, "alt+") {
				t.Errorf("%s is bound to %s", k, a.intent)
			}
		}
	}
}

func TestHelpNamesEveryKey(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := hand(a)
	d.send(tea.WindowSizeMsg{Width: 120, Height: 200})
	d.press("?")
	named := map[intent]string{} // the keys that stand on a line before one of the intent's texts
	for line := range strings.Lines(d.text()) {
		for _, a := range bindings() {
			if keys, _, ok := strings.Cut(line, " "+a.help); ok {
				named[a.intent] += keys + " "
			}
		}
	}
	for _, a := range bindings() {
		for _, k := range a.keys {
			if !strings.Contains(named[a.intent], " "+k+" ") {
				t.Errorf("%s is not named for %q: %q are", k, a.help, named[a.intent])
			}
		}
		d.shows(t, a.help)
	}
}

func TestEveryIntentIsCarriedOut(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	for _, act := range bindings() {
		for _, s := range []scope{inList, inDetail, inHelp, inInput, inEvents, inSources, inCommand, inHelpText, inSort} {
			if act.scope&s == 0 {
				continue
			}
			d := hand(a, b, c)
			d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
			d.press("j")
			switch s {
			case inDetail:
				d.press("enter", "j")
			case inHelp:
				d.press("?", "j")
			case inInput:
				d.press("/", "x")
			case inEvents:
				d.feed.Tell(sources.Event{Seq: 1, At: noon(), Kind: sources.EventAcquired, Ref: b.Ref}, sources.Event{Seq: 2, At: noon(), Kind: sources.EventAcquired, Ref: a.Ref},
					sources.Event{Seq: 3, At: noon(), Kind: sources.EventAcquired, Ref: a.Ref})
				d.send(terminal.WakeMsg{})
				d.press("5", "j")
			case inSources:
				d.send(tea.WindowSizeMsg{Width: 80, Height: 10})
				d.press("o", "j")
			case inCommand:
				d.press(":", "q", "enter", ":", "s", "o", "enter", ":", "s")
				if act.intent == doLater {
					d.press("up", "up")
				}
			case inHelpText:
				d.press("?", "l", "down", "down")
			case inSort:
				d.press("s")
			case inList:
				if act.intent == doClear {
					d.press("/", "x", "enter")
				}
			}
			before := d.View().Content
			quiet := s == inDetail && act.intent != doBack // its text fits the screen: nothing to scroll
			quiet = quiet || s == inHelp && (act.intent == doUp || act.intent == doTop)
			quiet = quiet || s == inList && act.intent == doLocks || s == inEvents && act.intent == doEvents || s == inSources && act.intent == doSources
			for _, k := range act.keys {
				cmd := d.send(key(k))
				if cmd == nil && d.View().Content == before && d.View().Cursor == nil && !quiet {
					t.Errorf("%s (%s) does nothing in scope %d", act.intent, k, s)
				}
				break
			}
		}
	}
}

func TestKeysOnALayoutThatIsNotLatinCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k    tea.KeyPressMsg
		want string
	}{
		{tea.KeyPressMsg{Code: 'о', Text: "о", BaseCode: 'j'}, "j"},
		{tea.KeyPressMsg{Code: 'п', Text: "П", BaseCode: 'g', Mod: tea.ModShift}, "G"},
		{tea.KeyPressMsg{Code: 'ö', Text: "ö"}, "ö"},
		{tea.KeyPressMsg{Code: tea.KeyUp}, "up"},
	} {
		if got := keyName(c.k); got != c.want {
			t.Errorf("%v is %q, not %q", c.k, got, c.want)
		}
	}
}

func TestASplitArrowDoesNotClearTheFilter(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	d := hand(a, b, c)
	d.split.Remote = true
	d.press("/", "b", "enter", "esc", "[", "B")
	if d.model.typed() != "b" {
		t.Errorf("the filter is %q", d.model.typed())
	}
}
