package truth

import (
	"slices"
	"time"
)

// lengths compares held_ms and gap_ms of all lines with the truth. A bound holds if one of the
// changes that the line can tell of is so long: where an owner lost a row twice in the stretch of
// one line, the line does not say which.
func (c *checker) lengths(lines []line) {
	for i := range lines {
		l := &lines[i]
		if l.row() == "" || c.special[l.row()].several {
			continue
		}
		if l.Held != nil && l.Previous != nil {
			c.compare("held", l, l.Held, c.terms(l))
		}
		if l.Gap != nil && l.Owner != nil {
			c.compare("gap", l, l.Gap, c.gaps(l))
		}
	}
}

// span is a true stretch of a row, from one change to another.
type span struct{ first, last *change }

func (s span) least() time.Duration { return max(0, s.last.from.Sub(s.first.to)) }
func (s span) most() time.Duration  { return s.last.to.Sub(s.first.from) }

// terms are the true ownerships whose end a line can tell of.
func (c *checker) terms(l *line) (list []span) {
	var began *change
	who := l.Previous.key()
	for i := range c.truth[l.row()] {
		t := &c.truth[l.row()][i]
		switch {
		case t.id != who:
		case t.what == begins:
			began = t
		case t.what == ends && began != nil && l.within(t.from, t.to, c.slack):
			list = append(list, span{began, t})
		}
	}
	return list
}

// gaps are the true times without an owner before the take-overs that a line can tell of. Where changes are
// pushed, one who came and went before the push was read is not seen, and the time goes on over him.
func (c *checker) gaps(l *line) (list []span) {
	var ended, seen *change // the last end, and the last of an owner who could be seen
	who, row := l.Owner.key(), l.row()
	pushed := c.interval == 0 && c.special[row].interval == 0
	for i := range c.truth[row] {
		t := &c.truth[row][i]
		switch {
		case t.what == ends:
			if ended = t; !pushed || c.hidden[t] != inInterval {
				seen = t
			}
		case t.what == begins && ended != nil && t.id == who && l.within(t.from, t.to, c.slack):
			if seen != nil && seen != ended {
				list = append(list, span{seen, t})
			}
			list = append(list, span{ended, t})
		}
	}
	return list
}

// compare judges one length. How late an instant may be told counts at both ends. What is marked as
// sampled may exclude the truth only where something came and went between two looks.
func (c *checker) compare(what string, l *line, told *length, truths []span) {
	if len(truths) == 0 {
		return // the row was made anew, or who is named was seen in no such change: that is judged elsewhere
	}
	margin := 2*prompt + c.lateness()
	holds := slices.ContainsFunc(truths, func(s span) bool {
		return told.least() <= s.most()+margin && told.most()+margin >= s.least()
	})
	mark := ", unmarked"
	if told.How == "sampled" {
		mark = ", marked"
	}
	key := what + mark
	s := truths[len(truths)-1]
	switch {
	case holds && told.Min == 0 && told.Max == nil:
		c.counts[key+": says nothing"]++
	case holds:
		c.counts[key+": holds"]++
	case told.How == "sampled" && c.betweenLooks(l, told):
		c.counts[key+": excludes the truth"]++
	default:
		c.counts[key+": excludes the truth"]++
		c.lie("wrong "+what, l, "it was %v to %v, from %s to %s", s.least(), s.most(), clock(s.first.to), clock(s.last.to))
	}
}

// betweenLooks reports whether two changes of the row, in the time that a marked length is about,
// were so near to each other that no look need have come between them. What happened in told darkness
// is no excuse: nothing is assumed of that.
func (c *checker) betweenLooks(l *line, told *length) bool {
	every := time.Duration(told.Every)*time.Millisecond + 2*c.slack
	truth := c.truth[l.row()]
	begin := l.At.Add(-max(told.least(), min(told.most(), time.Hour)) - every)
	for i := 1; i < len(truth); i++ {
		a, b := &truth[i-1], &truth[i]
		if a.to.After(begin) && !b.from.After(l.At) && b.from.Sub(a.to) <= every && !c.inTheDark(a, b) {
			return true
		}
	}
	return false
}

func (c *checker) inTheDark(a, b *change) bool {
	return slices.ContainsFunc(c.dark, func(d dark) bool { return d.from.Before(a.from) && b.to.Before(d.to) })
}
