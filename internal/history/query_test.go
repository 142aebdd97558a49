package history_test

import (
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// read is the part between two minutes of a recording that begins at minute 0.
func read(from, to int) *history.Past {
	return &history.Past{Span: history.Span{From: minute(from), To: minute(to)}, Lane: history.Lane{Since: minute(0)}}
}

// TestOnlyWhatMemoryAndThePastLackIsReadForAWindow has a row that memory knows since minute 60.
func TestOnlyWhatMemoryAndThePastLackIsReadForAWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		past         *history.Past
		only         bool
		window, want [2]int // want 0 to 0: nothing is read
	}{
		{name: "memory has all of it", window: [2]int{60, 80}},
		{name: "nothing was read", window: [2]int{50, 80}, want: [2]int{40, 90}},
		{name: "what was read is far away", past: read(10, 20), window: [2]int{50, 80}, want: [2]int{40, 90}},
		{name: "the part before it", past: read(50, 60), window: [2]int{40, 80}, want: [2]int{30, 50}},
		{name: "the part behind it", past: read(30, 50), window: [2]int{40, 80}, want: [2]int{50, 90}},
		{name: "nothing is recorded before it", past: read(0, 60), window: [2]int{-5, 80}},
		{name: "all of it was read", past: read(30, 60), window: [2]int{40, 80}},
		{name: "memory has no row", only: true, window: [2]int{70, 80}, want: [2]int{60, 90}},
		{name: "memory has no row, and all of it was read", only: true, past: read(60, 75), window: [2]int{70, 80}},
		{name: "memory has no row, and the window moved on", only: true, past: read(60, 75), window: [2]int{76, 80}, want: [2]int{66, 90}},
	} {
		q := asked(c.past, &sources.Row{})
		q.RecordedOnly = c.only
		span := func(from, to int) history.Span { return history.Span{From: minute(from), To: minute(to)} }
		got, missing := q.Missing(span(c.window[0], c.window[1]), span(c.window[0]-10, c.window[1]+10))
		if missing != (c.want != [2]int{}) || missing && got != span(c.want[0], c.want[1]) {
			t.Errorf("%s: %v %v is read, want %v", c.name, missing, got, c.want)
		}
	}
}

func TestALaneFollowsBothTheRowAndWhatIsRead(t *testing.T) {
	t.Parallel()
	term := func(owner string, from, to int) sources.Term {
		return sources.Term{Owner: sources.OwnerRef{ID: owner}, Start: sources.Stamp{At: minute(from), How: sources.Seen}, End: sources.Stamp{At: minute(to), How: sources.Seen}}
	}
	p := read(40, 60)
	p.Terms = []sources.Term{term("b", 45, 50)}
	q := asked(p, &sources.Row{Terms: []sources.Term{term("c", 62, 63)}})
	want := func(step, terms string, unread ...lane.Span) {
		t.Helper()
		if l := q.Lane(); drawn(l.Terms) != terms || len(l.Unread) != len(unread) || len(unread) > 0 && l.Unread[0] != unread[0] {
			t.Errorf("%s: terms %s, unread %v", step, drawn(l.Terms), l.Unread)
		}
	}
	want("at first", "b1 45..50, c0 62..63", lane.Span{To: minute(40)})
	if got := q.KnownFrom(); !got.Equal(minute(40)) {
		t.Errorf("all is known from %v on", got)
	}
	p.Add(history.Span{From: minute(0), To: minute(40)}, history.Lane{Since: minute(0), Terms: []sources.Term{term("a", 10, 20)}})
	want("the part before was read", "a1 10..20, b1 45..50, c0 62..63")
	row := *q.Row
	row.Terms = append(row.Terms[:1:1], term("c", 70, 71))
	q.Row = &row
	want("the row has changed", "a1 10..20, b1 45..50, c0 62..63, c0 70..71")
	for _, c := range []struct{ from, step, want int }{{70, -1, 63}, {62, -1, 50}, {0, +1, 10}, {20, +1, 45}} {
		if got := q.Change(minute(c.from), c.step); !got.Equal(minute(c.want)) {
			t.Errorf("from minute %d by %+d the next change is at %v", c.from, c.step, got)
		}
	}
	if got := q.Change(minute(71), +1); !got.IsZero() {
		t.Errorf("behind the last change there is one at %v", got)
	}
}

func TestOfWhatWasNotReadTheSumIsThatOfTheRecording(t *testing.T) {
	t.Parallel()
	row := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Name: "a"}}, Terms: []sources.Term{{Start: sources.Stamp{At: minute(70), How: sources.Seen}}}}
	for _, c := range []struct {
		name   string
		past   *history.Past
		totals map[sources.Ref]history.Total
		want   lane.Sum
		unread bool
	}{
		{name: "no sums were read", want: lane.Sum{Changes: 1, Unread: 20 * time.Minute}, unread: true},
		{name: "it has one", totals: map[sources.Ref]history.Total{row.Ref: {Sum: lane.Sum{Changes: 7}}}, want: lane.Sum{Changes: 7}, unread: true},
		{name: "it was never recorded", totals: map[sources.Ref]history.Total{}, want: lane.Sum{Changes: 1, Unseen: 20 * time.Minute}, unread: true},
		{name: "the lane was read", past: read(0, 60), totals: map[sources.Ref]history.Total{row.Ref: {Sum: lane.Sum{Changes: 7}}}, want: lane.Sum{Changes: 1}},
	} {
		q := asked(c.past, row)
		q.Totals = c.totals
		got, unread := q.Sum(history.Span{From: minute(40), To: minute(90)}, minute(90))
		if unread != c.unread || got.Changes != c.want.Changes || got.Unread != c.want.Unread || got.Unseen != c.want.Unseen {
			t.Errorf("%s: %+v, unread %v", c.name, got, unread)
		}
	}
}

func TestWhatTheRecordingAloneKnowsIsFreeBehindItWhileItsSourceIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		health sources.Health
		want   string
	}{
		{"it is read", sources.HealthLive, "5..6, 65..66"},
		{"it is silent", sources.HealthStale, "5..6, 65..66, 66..-"},
	} {
		p := read(0, 60)
		p.Dark = []sources.Dark{dark(5, 6)}
		q := asked(p, &sources.Row{}, dark(30, 40), dark(65, 66))
		q.RecordedOnly, q.State.Scopes[0].Health, q.State.Scopes[0].Synced = true, c.health, true
		if l := q.Lane(); darkness(l.Dark) != c.want || len(l.Unread) > 0 {
			t.Errorf("%s: dark %s, unread %v", c.name, darkness(l.Dark), l.Unread)
		}
	}
}

func TestARecordIsDarkWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	p := read(50, 55)
	p.Dark = []sources.Dark{dark(52, 53)}
	got := asked(p, &sources.Row{}, dark(70, 71)).Record(history.Span{From: minute(45), To: minute(90)})
	if want := "45..50, 52..53, 55..60, 55..60, 70..71"; darkness(got.Dark[1:]) != want || !got.Dark[0].From.IsZero() {
		t.Errorf("dark %s", darkness(got.Dark))
	}
}
