package sqlite

import (
	"encoding/binary"
	"time"

	"coordtop/sources"
)

// sum sums up a lane within a window. Sums of windows that follow each other can be added. The
// zero sum means that nothing happened: one owner all the time, or nothing was observed.
type sum struct {
	changes, gaps   uint64
	nobody, longest int64
	first, last     int64 // since when, and from when on, nobody owned it from the beginning, and up to the end
	state           ends
}

// ends says what was observed first and last in the window of a sum.
type ends uint8

const (
	freeFirst ends = 1 << iota // nobody owned it
	freeLast
	opens  // first reaches to the beginning of the window
	closes // last reaches to its end
	whole  // and nothing else was in it
)

// plus is both windows, of which t is the later.
func (s sum) plus(t sum) sum {
	switch {
	case s == (sum{}):
		t.state &^= opens | whole // the window begins earlier
		return t
	case t == (sum{}):
		s.state &^= closes | whole
		return s
	}
	out := sum{changes: s.changes + t.changes, gaps: s.gaps + t.gaps, nobody: s.nobody + t.nobody, longest: max(s.longest, t.longest), first: s.first, last: t.last,
		state: s.state&(freeFirst|opens) | t.state&(freeLast|closes)}
	if s.state&freeLast != 0 && t.state&freeFirst != 0 {
		out.gaps-- // it is one
	}
	if s.state&closes != 0 && t.state&opens != 0 {
		out.longest = max(out.longest, s.last+t.first)
		if s.state&whole != 0 {
			out.first += t.first
		}
		if t.state&whole != 0 {
			out.last += s.last
		}
		out.state |= s.state & t.state & whole
	}
	return out
}

// summed sums up the terms of a lane, ordered by their starts, in p less what was not observed;
// begin is where the window of the sum begins.
func summed(terms []held, p period, begin int64, dark []sources.Dark, changesOnly bool) (s sum) {
	for _, h := range terms {
		if h.change {
			s.changes++
		}
	}
	if changesOnly {
		return s
	}
	w := walk{sum: s, window: period{begin, p.to}, dark: dark}
	free := p.from
	for _, h := range terms {
		if h.until < p.from {
			continue // it was over before
		}
		if h.start >= p.from {
			w.free(free, max(free, h.earliest), free < h.start)
		}
		w.owned()
		free = max(free, h.until)
	}
	w.free(free, p.to, free < p.to)
	return w.sum
}

// walk adds the stretches of a lane in their order.
type walk struct {
	sum
	window period
	dark   []sources.Dark
	known  bool // something was observed
	gap    bool // and last that nobody owned it
}

func (w *walk) owned() { w.known, w.gap = true, false; w.state &^= freeLast }

// free adds a stretch in which nobody owned it, where a look saw so.
func (w *walk) free(from, to int64, seen bool) {
	to = min(to, w.window.to)
	if !seen || from >= w.window.to || from < w.window.from {
		return
	}
	begin := time.Unix(0, from)
	for len(w.dark) > 0 && !w.dark[0].To.IsZero() && !w.dark[0].To.After(begin) {
		w.dark = w.dark[1:]
	}
	end := time.Unix(0, max(to, from+1)) // what was seen at an instant may be all that was seen of it
	for begin, end := range sources.Observed(begin, end, w.dark) {
		w.piece(begin.UnixNano(), min(end.UnixNano(), to))
	}
}

func (w *walk) piece(from, to int64) {
	if !w.gap {
		w.gaps++
		w.gap = true
		if !w.known {
			w.state |= freeFirst
		}
	}
	w.known = true
	w.nobody += to - from
	w.longest = max(w.longest, to-from)
	w.state |= freeLast
	if from == w.window.from {
		w.first, w.state = to-from, w.state|opens
	}
	if to == w.window.to {
		w.last, w.state = to-from, w.state|closes
	}
	if from == w.window.from && to == w.window.to {
		w.state |= whole
	}
}

// encodeSums makes one body of the sums of a window that are not zero, in the order of the lanes.
func encodeSums(sums []sum, lanes []listed) []byte {
	b := []byte{1}
	for i, s := range sums {
		if s == (sum{}) {
			continue
		}
		for _, n := range [...]uint64{uint64(lanes[i].id), s.changes, s.gaps, uint64(s.nobody), uint64(s.longest), uint64(s.first), uint64(s.last), uint64(s.state)} {
			b = binary.AppendUvarint(b, n)
		}
	}
	return b
}

func decodeSums(b []byte, f func(lane int64, s sum)) error {
	bad := len(b) == 0 || b[0] != 1
	for b = b[min(1, len(b)):]; len(b) > 0 && !bad; {
		var n [8]uint64
		for i := range n {
			used := 0
			if n[i], used = binary.Uvarint(b); used <= 0 {
				bad = true
				break
			}
			b = b[used:]
		}
		f(int64(n[0]), sum{n[1], n[2], int64(n[3]), int64(n[4]), int64(n[5]), int64(n[6]), ends(n[7])})
	}
	if bad {
		return damage("a sum")
	}
	return nil
}
