package ui

import (
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/internal/objective"
	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// wanted parses objectives: a pattern and a text each.
func wanted(t *testing.T, texts ...string) (list []objective.Objective) {
	t.Helper()
	for i := 0; i < len(texts); i += 2 {
		o, err := objective.Parse(texts[i], texts[i+1])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	return list
}

// compute computes the objectives as a board does whose time has come.
func (d *driver) compute(t *testing.T) {
	t.Helper()
	d.objective.at, d.objective.running = time.Time{}, false // what an Update asked for is lost here
	read := d.objective.read()
	if read == nil || d.objective.read() != nil {
		t.Fatal("they are not computed, or twice at a time")
	}
	d.Update(read())
}

func TestPulseOfAReplaySaysHowTheObjectivesWereKeptThen(t *testing.T) {
	t.Parallel()
	log := hour(t)
	reader, _ := recordtest.File(t, log)
	p := history.NewPlayer(t.Context(), log, log)
	defer p.Close()
	seek := func(d time.Duration) {
		t.Helper()
		p.Seek(at(d))
		arrives(t, p, at(d))
	}
	seek(historytest.Length + historytest.Step - time.Second)
	m := board(Options{Player: p, History: reader, Width: 160, Height: 48, Objectives: wanted(t, historytest.Billing().Name, "99.8 % led over 1h", "none", "1 % led over 1h")})
	d := &driver{model: m}
	d.showsNot(t, "OBJECTIVES")
	d.press("1")
	d.compute(t)
	d.shows(t, "OBJECTIVES: 1 missed, 1 not known; billing/cron without an owner for 8.8 s, budget used 122 %, last hour 1.2x")
	if d.objective.read() != nil {
		t.Error("they are computed again at once")
	}
	exact(t, d)
	seek(5 * time.Minute)
	d.Update(terminal.WakeMsg{})
	d.showsNot(t, "OBJECTIVES") // of another time
	d.compute(t)
	d.shows(t, "OBJECTIVES: 2 not known; no election fits none")
}

// oldTime is more than the age from which on the line says of which time it is.
const oldTime = 6 * time.Minute

func TestObjectivesAreComputedFromMemoryIfNothingIsRecorded(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), uitest.Leaderless("billing", noon().Add(-8*time.Second)))
	st.Rows[0].Terms = []sources.Term{{Owner: sources.OwnerRef{ID: "host-1"}, Start: sources.Stamp{At: noon().Add(-2 * time.Hour), How: sources.Seen}, End: sources.Stamp{At: noon().Add(-8 * time.Second), How: sources.Seen}}}
	d := drive(newTestFeed(st), Options{Width: 120, Height: 40, Objectives: wanted(t, "billing", "99.9 % led over 1h", "billing", "99 % led over 1h")})
	d.press("1")
	if d.objective.read() != nil {
		t.Error("they are computed before all is read")
	}
	d.pass(1)
	d.compute(t)
	d.shows(t, "OBJECTIVES: 1 missed, 1 within; billing without an owner for 9.0 s, budget used 250 %")
	d.feed.Pass(oldTime)
	d.pass(1)
	d.shows(t, "OBJECTIVES, 12:00:01: 1 missed")
}
