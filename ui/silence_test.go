package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/screen"
	"coordtop/ui/uitest"
)

// fellSilent is a state whose source has not answered since noon.
func fellSilent(prims ...*sources.Primitive) *sources.State {
	st := uitest.State(noon(), prims...)
	st.Scopes[0].Health, st.Sources[0].Health = sources.HealthStale, sources.HealthStale
	st.Sources[0].Err = fmt.Errorf("%w for 3s", sources.ErrSilent)
	return st
}

func TestASilentSourceIsWorthALookAndThenNeedsAPerson(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	st := fellSilent(a)
	d := drive(newTestFeed(st), Options{Width: 160, Height: 40})
	grade := func(want verdict.Severity) {
		t.Helper()
		n, worst := screen.SilentSources(&d.Scene)
		if n != 1 || worst != want || screen.WorstSeverity(&d.Scene) != want {
			t.Errorf("%d sources are silent, severity %d, the header's %d; want %d", n, worst, screen.WorstSeverity(&d.Scene), want)
		}
		st := string(d.Theme.Severity(want))
		if n := strings.Count(d.drawn.frame.Content, st+"leases STALE"); n != 2 {
			t.Errorf("the header and the banner have %d signs of severity %d", n, want)
		}
		d.press("o")
		defer d.press("2")
		if n := strings.Count(d.drawn.frame.Content, st+"STALE"); n != 1 {
			t.Errorf("the table of sources has %d words of severity %d", n, want)
		}
	}
	d.pass(59)
	grade(verdict.Warn)
	d.pass(1)
	grade(verdict.Bad)
	st.Sources[0].Health, st.Sources[0].Err = sources.HealthConnecting, errors.New("refused")
	st.Scopes = nil
	d = drive(newTestFeed(st), Options{Width: 160, Height: 40}) // it never answered
	d.pass(59)
	if _, worst := screen.SilentSources(&d.Scene); worst != verdict.Warn {
		t.Errorf("severity %d after 59 s without any answer", worst)
	}
	d.pass(1)
	if _, worst := screen.SilentSources(&d.Scene); worst != verdict.Bad {
		t.Errorf("severity %d after a minute without any answer", worst)
	}
}

func TestASilentSourceHasOneAgeThatIsNotTooYoung(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	st := fellSilent(a)
	d := drive(newTestFeed(st), Options{Width: 160, Height: 40})
	d.feed.Pass(400 * time.Millisecond)
	d.pass(13)
	d.shows(t, "leases STALE 14s  its server has stopped answering")
	d.showsNot(t, "13s")
	d.showsNot(t, "for 3s")
	d.press("o")
	d.shows(t, "last answer 14s ago")
	d.showsNot(t, "13s")
	d.showsNot(t, "for 3s")
}

func TestTheNumberOfProblemsStaysWhateverGoes(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	st := uitest.State(noon(), a, b, lost("c"), lost("d"))
	st.Sources = append(st.Sources, sources.SourceStatus{Name: "other", Health: sources.HealthStale})
	for w, want := range map[int]string{160: "2 problems, 1 source down", 80: "2 problems, 1 source down", 60: "2 problems", 40: "2 problems", 39: "3!", 20: "3!"} {
		for _, title := range []string{"", "an environment with a long name, in which much goes on"} {
			d, _ := armed(a, b)
			d.Title = title
			d.show(st)
			d.send(tea.WindowSizeMsg{Width: w, Height: 10})
			d.press("p")
			if first := d.lines()[0]; !strings.Contains(first, want) {
				t.Errorf("%d cells: %q does not say %q", w, first, want)
			}
		}
	}
}
