package ui

import (
	"strings"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

func TestVisibleRowsAreJudgedEverySecondWhateverTheirNumber(t *testing.T) {
	t.Parallel()
	d := drive(newTestFeed(uitest.State(noon(), uitest.Many(50_000, noon())...)), Options{Width: 80, Height: 24})
	d.press("s", "G") // by name, to the end: far from where the sweep begins
	d.showsNot(t, "▲")
	d.feed.Pass(12 * time.Second) // 3 s of 15 are left
	d.send(terminal.SecondMsg{})
	if n := strings.Count(d.text(), "\n ▲ "); n != d.Layout.List {
		t.Errorf("%d of %d visible rows are seen to be late", n, d.Layout.List)
	}
	d.pass(5)
	d.shows(t, " 49,987 more, 49,987 ▲ ──")
	d.shows(t, "50,000 renewing late")
}

func TestTheHeaderCountsALeaderAsMissingOnlyWhereThatIsAProblem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ago  time.Duration
		want bool
	}{{4 * time.Second, false}, {6 * time.Second, true}} {
		st := uitest.State(noon(), uitest.Leaderless("a", noon()))
		st.Rows[0].Nobody = sources.Stamp{At: noon().Add(-c.ago), How: sources.Seen}
		d := drive(newTestFeed(st), Options{Width: 160, Height: 48})
		d.send(terminal.SecondMsg{})
		if got := strings.Contains(d.text(), "1 without a leader"); got != c.want {
			t.Errorf("without a leader for %v: counted %v, want %v:\n%s", c.ago, got, c.want, d.text())
		}
	}
}
