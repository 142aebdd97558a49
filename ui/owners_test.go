package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"coordtop/internal/fleet"
	"coordtop/sources"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// counted presses keys, and brings what is counted then.
func (d *driver) counted(keys ...string) {
	for _, k := range keys {
		d.answer(d.send(key(k)))
	}
}

func TestOwnersLookAsTheyWereReviewed(t *testing.T) {
	t.Parallel()
	scene := scene(t)
	events, _ := scene.Events(1 << 20)
	for _, c := range []struct {
		file   string
		w, h   int
		o      Options
		keys   []string
		styled bool
	}{
		{file: "owners-160x48.ansi", w: 160, h: 48, keys: []string{"4", "j", "j"}, styled: true},
		{file: "owners-light-160x48.ansi", w: 160, h: 48, o: Options{Theme: "light"}, keys: []string{"4"}, styled: true},
		{file: "owners-120x40.txt", w: 120, h: 40, keys: []string{"4", "g"}},
		{file: "owners-80x24.txt", w: 80, h: 24, keys: []string{"4", "g", "j"}},
		{file: "owners-session-80x24.txt", w: 80, h: 24, keys: []string{"4", "tab", "tab"}},
		{file: "owners-60x15.txt", w: 60, h: 15, keys: []string{"4"}},
		{file: "owners-ascii-80x24.txt", w: 80, h: 24, o: Options{ASCII: true}, keys: []string{"4"}},
		{file: "owner-80x24.txt", w: 80, h: 24, keys: []string{"4", "g", "j", "enter"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			c.o.Width, c.o.Height, c.o.TitleColor = c.w, c.h, "red"
			d := drive(newTestFeed(scene.State()), c.o)
			d.feed.Pass(scene.Now().Sub(d.feed.Now()))
			d.feed.Tell(events...)
			d.send(terminal.SecondMsg{})
			if c.o.Theme != "" {
				d.send(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
			}
			d.counted(c.keys...)
			got := d.View().Content
			if !c.styled {
				got = d.text()
			}
			golden(t, c.file, got)
		})
	}
}

// lostBy makes a row one that its owner lost a minute before noon.
func lostBy(st *sources.State, slot int, owner string) {
	row := st.Rows[slot]
	end := sources.Stamp{At: noon().Add(-time.Minute), How: sources.Seen}
	row.Nobody = end
	row.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: owner, Label: owner}, Start: sources.Stamp{At: noon().Add(-time.Hour), How: sources.Seen},
		End: end, Cause: sources.CauseExpired, How: sources.Inferred}}
}

// fleetBoard drives a board of two hosts that own something and one that lost what it had.
func fleetBoard() *driver {
	st := uitest.State(noon(), uitest.Led("a", "host-1:7", noon()), uitest.Led("b", "host-1:8", noon()), uitest.Led("c", "host-2:7", noon()), uitest.Lost("d"))
	lostBy(st, 3, "host-9:7")
	d := drive(newTestFeed(st), Options{Width: 120, Height: 30})
	d.pass(1)
	return d
}

// party is the name of the party under the cursor of the Owners screen.
func (d *driver) party() string {
	if p := d.Owners.Selected(); p != nil {
		return p.Name
	}
	return ""
}

func TestOwnersOpensAtTheOwnerOfTheRow(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{"a": "host-1", "c": "host-2", "d": "host-9"} {
		for _, from := range [][]string{nil, {"enter"}} {
			d := fleetBoard()
			h, _ := d.find(sources.Ref{Source: uitest.Redis, Space: "0", Name: row})
			d.Locks.Select(h)
			d.press(from...)
			if d.counted("4"); d.party() != want {
				t.Errorf("from %s it opens at %q, not %q", row, d.party(), want)
			}
		}
	}
}

func TestOwnersSaysWhatFallsWithAHost(t *testing.T) {
	t.Parallel()
	d := fleetBoard()
	d.counted("4")
	d.shows(t, "HOST ")
	d.Owners.List.Select("host-1")
	d.counted("j", "k")
	d.shows(t, "these 2 fall, the longest in 14s; nobody else is known for any of them")
	d.shows(t, "2 elections led, in 1 source")
	d.Owners.List.Select("host-9")
	d.counted("k", "j")
	d.counted("g")
	d.shows(t, "1 lost, in 1 source, never seen to be active")
	d.shows(t, "LOST, AND FREE NOW")
	if d.party() != "host-9" {
		t.Errorf("what needs a person is not first but %s", d.party())
	}
	d.counted("enter")
	d.shows(t, "IF IT DIES NOW  nothing falls: it lost 1, and nobody took over")
	d.counted("esc", "esc")
	if d.Shown != screen.Locks {
		t.Errorf("view %d is shown", d.Shown)
	}
}

func TestAnotherGroupingKeepsTheCursorOnItsOwner(t *testing.T) {
	t.Parallel()
	d := fleetBoard()
	d.counted("4")
	d.Owners.List.Select("host-2")
	d.counted("tab", "tab")
	if d.party() != "host-2:7" {
		t.Errorf("by session it is on %q", d.party())
	}
	d.shows(t, "SESSION ")
	if d.counted("tab"); d.party() != "host-2" {
		t.Errorf("by host it is on %q", d.party())
	}
}

func TestTheRowsOfAPartyAreShownInTheList(t *testing.T) {
	t.Parallel()
	for party, want := range map[string][]string{"host-1": {"a", "b"}, "host-9": {"d"}} {
		d := fleetBoard()
		d.counted("4")
		d.Owners.List.Select(party)
		d.counted("*")
		if got := d.names(); d.Shown != screen.Locks || !slices.Equal(got, want) {
			t.Errorf("%s: view %d shows %v, not %v", party, d.Shown, got, want)
		}
		d.shows(t, "host="+party)
		d.counted("4")
		d.shows(t, "of all rows, whatever the filter")
		d.press("2")
		if d.counted("*"); len(d.names()) != 4 {
			t.Errorf("again: %v", d.names())
		}
	}
}

func TestARowWithoutAnOwnerIsFilteredByTheLastOne(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), uitest.Led("a", "host-9:7", noon()), uitest.Led("b", "host-1:8", noon()), uitest.Lost("d"), uitest.Lost("e"))
	lostBy(st, 2, "host-9:7")
	d := drive(newTestFeed(st), Options{Width: 120, Height: 30})
	h, _ := d.find(sources.Ref{Source: uitest.Redis, Space: "0", Name: "d"})
	d.Locks.Select(h)
	d.press("*")
	if got := d.names(); !slices.Equal(got, []string{"d", "a"}) {
		t.Errorf("%v", got)
	}
	d.press("*")
	h, _ = d.find(sources.Ref{Source: uitest.Redis, Space: "0", Name: "e"})
	d.Locks.Select(h)
	d.press("*")
	d.shows(t, "nobody is known to own this row, or to have owned it")
}

func TestOwnersAreCountedOnceASecondAndOnlyWhileShown(t *testing.T) {
	t.Parallel()
	d := fleetBoard()
	if cmd := d.owners.count(); cmd != nil {
		t.Error("they are counted while Locks are shown")
	}
	d.counted("4")
	if d.owners.running || d.owners.count() != nil {
		t.Error("they are counted again at once")
	}
	st := *d.State
	d.feed.Set(&st)
	d.send(terminal.WakeMsg{})
	if d.owners.running {
		t.Error("they are counted again within the second")
	}
	d.feed.Pass(time.Second)
	if d.send(terminal.SecondMsg{}); !d.owners.running {
		t.Error("they are not counted after a second")
	}
	d.owners.have(partiesMsg{of: fleet.Input{By: d.Owners.By + 1}, parties: []*fleet.Party{}})
	if d.party() == "" {
		t.Error("an answer for another grouping is taken")
	}
}

func TestOwnersOfNothingSaysSo(t *testing.T) {
	t.Parallel()
	d := hand()
	d.send(key("4"))
	d.shows(t, "counting who owns what")
	d.owners.running = false
	d.answer(d.owners.count())
	d.shows(t, "nobody is known to own or await anything")
	d.counted("enter", "*", "tab", "j")
	if strings.Contains(d.text(), "IF IT DIES") {
		t.Error(d.text())
	}
}
