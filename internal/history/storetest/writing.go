package storetest

import (
	"errors"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

const h, m, sec = time.Hour, time.Minute, time.Second

func whatWasWrittenIsRead(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	w := Begun(t, o, 0)
	running, ended := Term("a", 1*m, 0), Term("a", 1*m, 2*m)
	ended.End = sources.StampBetween(After(110*sec), After(2*m), sources.Seen)
	ended.Sure, ended.Every = After(100*sec), 250*time.Millisecond
	next := Term("b", 3*m, 0)
	next.Owner.Label, next.Program = "worker", 9
	Write(t, w, BatchOf(0, m, history.LaneChange{Ref: Ref("x"), Kind: sources.KindElection, Scope: "s", Terms: []sources.Term{running}}))
	s := Store(t, o)
	if l := LaneOf(t, s, "x", Span(0, h)); len(l.Terms) != 1 || l.Terms[0].End != (sources.Stamp{}) || l.Kind != sources.KindElection {
		t.Errorf("read %+v, want a running term", l)
	}
	b := BatchOf(m, 3*m, history.LaneChange{Ref: Ref("x"), Scope: "s", Terms: []sources.Term{ended, next}, Levels: []sources.Level{{At: After(m), Taken: 3, High: sources.NoLimit}}})
	b.Keyframe = nil
	b.Events = []sources.Event{Event(2*m, "x"), {Seq: 9, At: After(3 * m), Kind: sources.EventSourceUp, Ref: sources.Ref{Source: "leases"}, Scope: "s", Detail: "hi"}}
	b.Dark = []history.DarkChange{{Source: "leases", Scope: "s", Dark: sources.Dark{From: After(150 * sec), To: After(160 * sec)}}, {Ref: Ref("x"), Source: "leases", Scope: "s", Dark: sources.Dark{From: After(170 * sec)}}}
	Write(t, w, b)
	l := LaneOf(t, s, "x", Span(0, h))
	next.Hue = 1
	if want := []sources.Term{ended, next}; !Equal(l.Terms, want) {
		t.Errorf("terms %+v\nwant  %+v", l.Terms, want)
	}
	if want := []sources.Dark{{From: After(150 * sec), To: After(160 * sec)}, {From: After(170 * sec)}}; !Equal(l.Dark, want) {
		t.Errorf("dark %+v, want %+v", l.Dark, want)
	}
	events, err := s.Events(t.Context(), After(2*m), 10, 10, history.EventFilter{})
	b.Events[0].Mono = 0 // it is not stored
	if want := []history.Event{{Event: b.Events[0], Run: 1}, {Event: b.Events[1], Run: 1}}; err != nil || !Equal(events, want) {
		t.Errorf("events %+v, %v\nwant  %+v", events, err, want)
	}
	if events, err := s.Events(t.Context(), After(2*m), 10, 0, history.EventFilter{Refs: []sources.Ref{Ref("x")}}); err != nil || len(events) != 0 {
		t.Errorf("events before %+v, %v: want none", events, err)
	}
}

func theTimeBetweenTwoRunsIsNotObserved(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	first := Begun(t, o, 0)
	vague := Term("a", sec, 0)
	vague.Owner.Fence = 0
	Write(t, first, BatchOf(0, m, history.LaneChange{Ref: Ref("same"), Scope: "s", Terms: []sources.Term{Term("a", sec, 0)}},
		history.LaneChange{Ref: Ref("vague"), Scope: "s", Terms: []sources.Term{vague}},
		history.LaneChange{Ref: Ref("other"), Scope: "s", Terms: []sources.Term{Term("a", sec, 0)}}))
	if _, err := o.Begin(history.Run{Span: history.Span{From: After(2 * m)}}); !errors.Is(err, history.ErrBusy) {
		t.Errorf("a second recorder: %v, want ErrBusy", err)
	}
	s := Store(t, o)
	if runs, err := s.Runs(t.Context()); err != nil || len(runs) != 1 || !runs[0].Live || !runs[0].To.Equal(After(m)) {
		t.Errorf("runs %+v, %v: want one that is live", runs, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	l := LaneOf(t, s, "other", Span(0, h))
	if want := (sources.Stamp{At: After(m), How: sources.Bound}); !Equal(l.Terms[0].End, want) || !Equal(l.Dark, []sources.Dark{{From: After(m)}}) {
		t.Errorf("end %+v, dark %+v: want the end of the run as a bound", l.Terms[0].End, l.Dark)
	}
	second := Begun(t, o, 10*m)
	again := Term("a", 0, 0)
	again.Start = sources.Stamp{At: After(11 * m), How: sources.AtLeast}
	vague.Start = again.Start
	Write(t, second, BatchOf(10*m, 12*m, history.LaneChange{Ref: Ref("same"), Scope: "s", Terms: []sources.Term{again}},
		history.LaneChange{Ref: Ref("vague"), Scope: "s", Terms: []sources.Term{vague}},
		history.LaneChange{Ref: Ref("other"), Scope: "s", Terms: []sources.Term{Term("b", 11*m, 0)}}))
	if l := LaneOf(t, s, "same", Span(0, h)); len(l.Terms) != 1 || l.Terms[0].End != (sources.Stamp{}) || !l.Terms[0].Sure.IsZero() {
		t.Errorf("terms %+v: want the one that goes on, as its fence proves", l.Terms)
	}
	l = LaneOf(t, s, "other", Span(sec, h))
	if len(l.Terms) != 2 || l.Terms[0].End.How != sources.Bound || !Equal(l.Dark, []sources.Dark{{From: After(m), To: After(10 * m)}, {From: After(12*m + 2*sec)}}) {
		t.Errorf("terms %+v, dark %+v", l.Terms, l.Dark)
	}
	vague.End = sources.Stamp{At: After(12 * m), How: sources.Seen}
	Write(t, second, BatchOf(12*m, 13*m, history.LaneChange{Ref: Ref("vague"), Scope: "s", Terms: []sources.Term{vague}}))
	if l := LaneOf(t, s, "vague", Span(0, h)); len(l.Terms) != 1 || !l.Terms[0].Start.At.Equal(After(sec)) || !l.Terms[0].Sure.Equal(After(11*m)) {
		t.Errorf("terms %+v: want the one that may have gone on, sure from the second run on", l.Terms)
	}
}

func whatWasDroppedIsNotObserved(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, h)
	w := Begun(t, o, 0)
	for n := range time.Duration(10) { // of every hour half is without a leader
		Write(t, w, BatchOf(n*h, n*h+h, history.LaneChange{Ref: Ref("x"), Kind: sources.KindElection, Scope: "s", Terms: []sources.Term{Term("a", n*h, n*h+h/2)}}))
	}
	Tidied(t, w, After(10*h))
	s := Store(t, o)
	totals, err := s.Totals(t.Context(), Span(0, 10*h))
	if err != nil || len(totals) != 1 || totals[0].Unseen != 9*h || totals[0].Nobody.Min != h/2 || totals[0].Longest.Min != h/2 {
		t.Errorf("the sums of ten hours are %+v, %v, want those of the last hour and 9 h unseen", totals, err)
	}
	if dark := LaneOf(t, s, "x", Span(0, 10*h)).Dark; len(dark) != 1 || !dark[0].To.Equal(After(9*h)) {
		t.Errorf("not observed is %v, want all before the last hour", dark)
	}
}

func theLastPieceOfARunSaysSo(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	w, e := Begun(t, o, 0), tape.NewEncoder(tape.EncoderOptions{})
	seq := uint64(0)
	piece := func(from, to time.Duration, keyframe bool) {
		b := BatchOf(from, to)
		if b.Keyframe = nil; keyframe {
			b.Keyframe = e.Keyframe(nil, &sources.Keyframe{Seq: seq})
		}
		b.Seq = [2]uint64{seq, seq + 1}
		seq++
		b.Inputs = e.Input(nil, &sources.Input{Seq: seq, Kind: sources.InputPublished, At: sources.Instant{Wall: After(to), Mono: to}})
		Write(t, w, b)
	}
	piece(0, 2*m, true) // becomes a chunk
	piece(2*m, 2*m+sec, false)
	c, err := Store(t, o).Cursor(t.Context(), 1, After(0))
	if err != nil {
		t.Fatal(err)
	}
	next := func(what string, inputs int, end bool) {
		t.Helper()
		if p, err := c.Next(t.Context()); err != nil || len(p.Inputs) != inputs || p.End != end {
			t.Errorf("%s: %d Inputs, end %v, %v; want %d, %v", what, len(p.Inputs), p.End, err, inputs, end)
		}
	}
	next("the keyframe", 0, false)
	next("the chunk", 1, false)
	next("the tail", 1, true)
	next("nothing more", 0, true)
	piece(2*m+sec, 2*m+2*sec, false)
	piece(2*m+2*sec, 2*m+3*sec, true)
	next("the rest of the group", 1, false)
	next("the next group", 1, true)
}
