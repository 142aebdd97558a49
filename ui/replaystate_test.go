package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/history"
	"coordtop/ui/uitest"
)

func TestTheCursorComesBackToItsRowFromATimeWithoutIt(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *history.Player) {
		a, b, c := three()
		d := drive(newTestFeed(uitest.State(at(2*time.Hour), a, b, c)), Options{Player: p, Width: 120, Height: 30})
		d.press("j")
		chosen := d.rowList.cursorRow
		d.goes("at 00:05")
		d.shows(t, chosen.Name+" is not known at this time")
		d.goes("at 00:10")
		d.press("0")
		if d.rowList.cursorRow != chosen {
			t.Errorf("the cursor comes back to %v, not %v", d.rowList.cursorRow, chosen)
		}
		d.goes("at 00:05")
		d.press("j")
		d.goes("at 00:06")
		chosen = d.rowList.cursorRow
		d.press("0")
		d.goes("at 00:05")
		if d.rowList.cursorRow != chosen {
			t.Errorf("the cursor goes to %v, not to %v, which was chosen in the past", d.rowList.cursorRow, chosen)
		}
	})
}

func TestATimeBeforeTheFirstAnswerIsSaidToHoldNothingYet(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *history.Player) {
		p.Seek(at(0))
		synctest.Wait()
		d := &driver{model: board(Options{Player: p, Width: 120, Height: 30})}
		d.shows(t, "nothing recorded yet at this time; . goes to the next event")
		d.showsNot(t, "connecting to")
		p.Seek(at(6 * time.Second))
		synctest.Wait()
		second(d.model)
		d.showsNot(t, "nothing recorded yet")
	})
}

func TestTheAuditInThePastHasOnlyWhatWasKnownThen(t *testing.T) {
	t.Parallel()
	played(t, func(t *testing.T, p *history.Player) {
		list := []action.AuditEntry{
			{ID: "1", At: at(4 * time.Minute), Who: "ana@laptop", Action: "arm"},
			{ID: "2", At: at(5 * time.Minute), Ended: at(6 * time.Minute), Who: "ana@laptop", Action: "release", Call: "x", Result: "done", Detail: "host-1 leads now"},
			{ID: "3", At: at(7 * time.Minute), Who: "ana@laptop", Action: "disarm"},
		}
		feed := newTestFeed(uitest.State(at(2*time.Hour), uitest.Led("now", "host-1", at(2*time.Hour))))
		d := drive(feed, Options{Player: p, Width: 120, Height: 30, AuditEntries: func() ([]action.AuditEntry, error) { return list, nil }})
		d.audit()
		d.shows(t, "disarm")
		d.goes("at 00:05:30")
		d.shows(t, "1 of 2")
		d.shows(t, "under way")
		d.showsNot(t, "host-1 leads now")
		d.showsNot(t, "disarm")
		d.goes("at 00:03")
		d.shows(t, "nothing was done through coordtop up to this time")
		d.press("0")
		d.shows(t, "host-1 leads now")

		d = &driver{model: board(Options{Player: p, Width: 120, Height: 30})}
		d.press("6")
		d.shows(t, "the audit is not in a recording; Events has what people did (5)")
		d.showsNot(t, "newest first, of")
	})
}
