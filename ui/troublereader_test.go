package ui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/sources"
	"coordtop/ui/uitest"
)

// TestAReplayOpensOnWhatWentWrong looks through the recorded hour and goes where it says.
func TestAReplayOpensOnWhatWentWrong(t *testing.T) {
	t.Parallel()
	log := hour(t)
	reader, _ := recordtest.File(t, log)
	p := history.NewPlayer(t.Context(), log, log)
	defer p.Close()
	p.Seek(at(5 * time.Minute))
	arrives(t, p, at(5*time.Minute))
	m := board(Options{Player: p, History: reader, Width: 160, Height: 48, Trouble: true})
	d := &driver{model: m}
	m.trouble.at, m.trouble.running = time.Time{}, false // what the first Update asked for is lost here
	read := m.trouble.read()
	if read == nil || m.trouble.read() != nil {
		t.Fatal("it is not read, or twice at a time")
	}
	m.draw()
	d.shows(t, "reading the recording...")
	m.Update(read())
	for _, want := range []string{
		"WHAT WENT WRONG", "not recorded 00:41:30 - 00:43:00 (90 s); leases not observed for 3m3", "the recorder began anew 1 time", "1 of ",
		"300 ms  billing/cron had no leader: the lease of host-1 ran out; then host-2 led",
		"s  leases did not answer: no answer for 3s; then it answered again",
		"7.0 s  billing/cron had no leader: the lease of host-2 ran out; then host-3 led",
	} {
		d.shows(t, want)
	}
	if m.trouble.read() != nil {
		t.Error("a file is read again")
	}
	d.shows(t, " billing/cron                         5          2     2        0           8.8 s           7.0 s ")
	d.press("G")
	d.shows(t, "TERMS   1: 0 handed on, 0 lost, 0 whose end is not known")
	d.press("k", "k", "k")
	if m.Trouble.SelectedRow() == nil {
		t.Error("the cursor is on no row")
	}
	d.press("k")
	if m.Trouble.Selected() == nil {
		t.Error("the cursor does not pass the heading")
	}
	d.press("j")
	if row := m.Trouble.SelectedRow(); row == nil || row.Ref != historytest.Billing() {
		t.Errorf("the cursor does not pass the heading back: %v", row)
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.press("g")
	for t0 := m.Trouble.Selected(); !strings.HasPrefix(t0.Who.Name(), "host-2"); t0 = m.Trouble.Selected() {
		d.press("j")
	}
	d.shows(t, "WHERE   leases/0/billing/cron")
	d.press("enter")
	arrives(t, p, at(51*time.Minute+30*time.Second+published))
	second(m)
	d.shows(t, "no leader")
	if row, _ := m.Selected(); row == nil || row.Ref != historytest.Billing() {
		t.Errorf("the cursor is on %+v", row)
	}
	d.press("j")
	if row, _ := m.Selected(); row != nil && row.Ref == historytest.Billing() {
		d.press("k")
	}
	if row, _ := m.Selected(); row == nil || row.Ref == historytest.Billing() {
		t.Errorf("the cursor is still on %+v", row)
	}
	d.press("7")
	d.press("enter") // to the same instant
	arrives(t, p, at(51*time.Minute+30*time.Second+published))
	second(m)
	if row, _ := m.Selected(); row == nil || row.Ref != historytest.Billing() {
		t.Errorf("the cursor is on %+v, not on the row of what went wrong", row)
	}
}

func TestABoardWithoutARecordingSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := drive(newTestFeed(uitest.State(noon())), Options{Width: 80, Height: 24})
		d.press("7")
		d.shows(t, "nothing is recorded here")
	})
}

// aliased is a recording in which each primitive was called compactor last, if it is asked about.
type aliased struct{ history.EventReader }

func (aliased) Events(_ context.Context, _ time.Time, _, _ int, of history.EventFilter) (events []history.Event, err error) {
	for _, ref := range of.Refs {
		events = append(events, history.Event{Event: sources.Event{Ref: ref, Alias: "compactor", AliasHow: sources.Told}})
	}
	return events, nil
}

func TestWhatWentWrongIsNamedAsItIsKnownInTheWholeRecording(t *testing.T) {
	t.Parallel()
	number, name, twin := sources.Ref{Source: "ledger", Name: "4242"}, sources.Ref{Source: "eu", Name: "app:x"}, sources.Ref{Source: "us", Name: "app:x"}
	names, err := namesIn(t.Context(), aliased{}, []history.Lane{{Ref: number}, {Ref: name}, {Ref: twin}}, []sources.Ref{number, name})
	if err != nil || names[number] != "compactor 4242" || names[name] != "eu/app:x" || len(names) != 2 {
		t.Errorf("%v %v", names, err)
	}
}
