package ui

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// reads takes a message, and what is read of a recording for the frame after it.
func (m *model) reads(msg tea.Msg) {
	d := &driver{model: m}
	d.answer(d.send(msg))
}

// TestTheListShowsInItsStripsWhatWasRecorded compares with the Timeline: both show who led before memory
// begins.
func TestTheListShowsInItsStripsWhatWasRecorded(t *testing.T) {
	t.Parallel()
	d, r := recorded()
	d.answer(d.send(key("2")))
	line := d.lines()[4]
	_, strip, _ := strings.Cut(line, " 0  ")
	if strings.ContainsAny(strip, "┄░?") || !strings.Contains(strip, "B━") || strings.Index(strip, "B━") > strings.Index(strip, "A━") {
		t.Errorf("the strip is %q of %q", strip, line)
	}
	if len(r.asked) != 1 {
		t.Errorf("the Timeline and the list asked for %v", r.asked)
	}
}

// TestWhatIsReadOfARecordingIsForgottenInTime follows a row whose terms memory keeps for a second only.
func TestWhatIsReadOfARecordingIsForgottenInTime(t *testing.T) {
	t.Parallel()
	d, r := recorded()
	d.answer(d.send(key("2")))
	for range 300 { // minutes
		d.feed.Pass(time.Minute)
		st := *d.feed.State()
		st.At, st.Rev = d.feed.Now(), st.Rev+1
		row := *st.Rows[0]
		row.Rev = st.Rev
		row.Terms = nil
		for i := range sources.MaxTerms {
			at := st.At.Add(-time.Second + time.Duration(i)*time.Millisecond)
			t := sources.Term{Owner: sources.OwnerRef{ID: fmt.Sprint(st.Rev, i)}, Start: sources.Stamp{At: at, How: sources.Seen}, End: sources.Stamp{At: at.Add(time.Millisecond), How: sources.Seen}}
			row.Terms = append(row.Terms, t)
			r.lane.Terms = append(r.lane.Terms, t)
		}
		st.Rows = []*sources.Row{&row}
		d.feed.Set(&st)
		d.answer(d.send(terminal.WakeMsg{}))
		d.answer(d.send(terminal.SecondMsg{}))
	}
	p := d.Time.Past[r.lane.Ref]
	if n := len(p.Terms); n > 1000 || n < 200 {
		t.Errorf("%d terms are kept", n)
	}
	if from := d.Now.Sub(p.Span.From); from > 2*time.Hour || from < 30*time.Minute {
		t.Errorf("what was read is kept for %v", from)
	}
}

// BenchmarkListPast takes in 100 changes of owner, a tenth of a second of 1,000 in a second, all of them on the
// screen, and draws them with strips whose quarter of an hour was read from a recording.
func BenchmarkListPast(b *testing.B) {
	for _, terms := range []int{0, 200, 8000} {
		b.Run(fmt.Sprintf("terms=%d", terms), func(b *testing.B) {
			var rows []*sources.Row
			for i := range 10_000 {
				row := changing(fmt.Sprintf("lane-%05d", i), 10*time.Millisecond, sources.MaxTerms, i)
				row.Terms[0].Start = sources.Stamp{At: row.Terms[0].End.At.Add(-time.Millisecond), How: sources.Seen}
				rows = append(rows, row)
			}
			st := uitest.State(noon())
			st.Rows, st.Scopes[0].Since = rows, noon().Add(-24*time.Hour)
			r := &recording{}
			for i, row := range rows {
				row.Slot = i
				if l := (history.Lane{Ref: row.Ref, Kind: row.Kind, Since: noon().Add(-24 * time.Hour)}); i < 48 && terms > 0 {
					l.Terms = changing(row.Name, 18*time.Minute/time.Duration(terms), terms, 0).Terms
					r.more = append(r.more, l)
				}
			}
			d := drive(newTestFeed(st), Options{Width: 160, Height: 48, History: r})
			d.answer(d.send(terminal.SecondMsg{}))
			n := len(d.Locks.Visible())
			b.ReportAllocs()
			for round := 0; b.Loop(); round++ {
				st := *d.feed.State()
				st.Rev++
				st.Rows = append([]*sources.Row(nil), st.Rows...)
				for i := range min(n, 100) {
					row := *st.Rows[i]
					row.Rev = st.Rev
					st.Rows[i] = &row
				}
				d.feed.Set(&st)
				d.send(terminal.WakeMsg{})
			}
			if p := d.Time.Past[rows[0].Ref]; p == nil || terms > 0 && len(p.Terms) == 0 {
				b.Errorf("nothing was read: %v", p)
			}
		})
	}
}

// TestNoCellOfALaneIsBlank is about a lock that was not there at first, though its source was read.
func TestNoCellOfALaneIsBlank(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "host-b", noon())
	p.Kind = sources.KindMutex
	st := uitest.State(noon(), p)
	st.Scopes[0].Since = noon().Add(-time.Hour)
	st.Rows[0].Terms = []sources.Term{{Owner: sources.OwnerRef{ID: "host-b", Label: "host-b"}, Start: sources.StampBetween(noon().Add(-5*time.Minute-time.Second), noon().Add(-5*time.Minute), sources.Seen)}}
	d := drive(newTestFeed(st), Options{Width: 160, Height: 48})
	d.Events.Since = noon().Add(-time.Hour)
	d.press("3")
	lane := []rune(d.lane(t, "a"))[27:]
	if strings.ContainsAny(strings.TrimRight(string(lane), " "), " ┄") || !strings.Contains(string(lane), "──A━") {
		t.Errorf("the lane is %q", string(lane))
	}
}

func TestTheTermsOfTheSelectedLaneAreATable(t *testing.T) {
	t.Parallel()
	d := lanes(160, 48, changing("a", 100*time.Second, 5, 0), changing("b", 20*time.Second, 60, 1))
	d.press("g")
	d.shows(t, "LENGTH  ENDED          GAP AFTER")
	d.shows(t, " >B host-1  11:58:20.0 ")
	d.shows(t, "  11:58:17.0    97 s  lease ran out  3.0 s")
	d.press("[", "h")
	d.shows(t, " >C host-2  11:56:40.0")
	d.press("0", "j")
	d.shows(t, "more terms in the window")
	for range 9 {
		d.press("[")
	}
	d.shows(t, " >")
	if small := lanes(80, 24, changing("a", 100*time.Second, 5, 0)); !strings.Contains(small.text(), ">B host-1") {
		t.Errorf("there is room for it:\n%s", small.text())
	}
}

func TestTheTimelineIsExportedAsTextAndAsAPicture(t *testing.T) {
	t.Chdir(t.TempDir())
	d := lanes(160, 48, changing("a", 100*time.Second, 5, 0))
	var drawn []history.Lane
	var of history.Span
	d.options.Picture = func(w io.Writer, lanes []history.Lane, _ []sources.Event, span history.Span, _ *time.Location) error {
		drawn, of = lanes, span
		_, err := io.WriteString(w, "<svg/>")
		return err
	}
	d.press("e")
	d.shows(t, "t text")
	written := func(k string) string {
		t.Helper()
		d.send(d.send(key(k))())
		d.shows(t, "1 lane in ")
		files, err := filepath.Glob("coordtop-timeline-*")
		if err != nil || len(files) != 1 {
			t.Fatalf("%v: %v", files, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil || os.Remove(files[0]) != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := written("t"); !strings.Contains(text, "ALL LANES") || strings.Contains(text, "\x1b") || strings.Contains(text, "? help") {
		t.Errorf("the text is %q", text)
	}
	d.press("e")
	if text := written("s"); text != "<svg/>" || len(drawn) != 1 || len(drawn[0].Terms) != 5 || !of.To.Equal(noon()) || of.From.After(noon().Add(-15*time.Minute)) {
		t.Errorf("%q: %v of %v", text, drawn, of)
	}
}

func TestWhyAnOwnershipEndedIsNotCut(t *testing.T) {
	t.Parallel()
	row := changing("a", 100*time.Second, 2, 0)
	row.Terms[0].Owner.Label = "a-program-with-a-long-name-in-eu-west-1:4651 pid 27357"
	row.Terms[0].Cause, row.Terms[0].How = sources.CauseSession, sources.Inferred
	d := lanes(160, 48, row)
	d.press("2")
	d.shows(t, "~session ended")
}
