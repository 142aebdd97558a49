package truth

import (
	"slices"
	"time"
)

// unprinted judges the changes that no line tells of. Two that follow each other, and end where
// they began, came and went.
func (c *checker) unprinted(changes []*change, told []bool) {
	var rest []*change
	for i, t := range changes {
		switch {
		case t.mute || told[i]:
		case t.what == renews:
			c.excuse(t, t)
		case t.what == proclaims && c.withTake(t):
			c.counts["written before its owner was seen"]++
		case t.what == proclaims:
			c.excuse(t, c.overwritten(t))
		default:
			rest = append(rest, t)
		}
	}
	var open []*change // without a counterpart yet
	for i, t := range rest {
		n := len(open) - 1
		served := t.what == leaves && c.toldToOwn(t)
		switch {
		case n >= 0 && open[n].what != t.what && c.why(open[n], t) != "":
			c.excuse(open[n], t)
			open = open[:n]
		case served && (i+1 == len(rest) || i+2 < len(rest) && rest[i+2].what == leaves && c.why(rest[i+1], rest[i+2]) != ""):
		default:
			open = append(open, t)
		}
	}
	for _, t := range open {
		if t.what != leaves || !c.toldToOwn(t) {
			c.missed(t, t)
		}
	}
}

// withTake reports whether the line of the take-over by its owner, or of the making of the row,
// has room for a proclamation.
func (c *checker) withTake(p *change) bool {
	var l *line
	for i := range c.truth[p.row] {
		t := &c.truth[p.row][i]
		if t == p {
			break
		}
		if t.what == begins && t.id == p.id {
			l = c.taken[t]
		}
	}
	for _, made := range c.lines[p.row] {
		if made.Event == "created" && made.within(p.from, p.to, c.slack) {
			l = made
		}
	}
	return l != nil && l.within(p.from, p.to, c.slack)
}

// overwritten is what came after a proclamation and took its data away: another one, or the
// end of its owner, with which an ephemeral row ends. Where nothing did, the proclamation itself.
func (c *checker) overwritten(p *change) *change {
	found := false
	for i := range c.truth[p.row] {
		t := &c.truth[p.row][i]
		if found && (t.what == proclaims || t.what == ends && (t.id == p.id || p.id == "")) {
			return t
		}
		found = found || t == p
	}
	return p
}

// toldToOwn reports whether a line tells that a waiter owns the row, before one tells that it
// waits again. It was served, or gave up and took it before that could be seen.
func (c *checker) toldToOwn(served *change) bool {
	found := false
	for i := range c.truth[served.row] {
		t := &c.truth[served.row][i]
		switch {
		case !found || t.id != served.id:
			found = found || t == served
		case t.what == begins && c.taken[t] != nil:
			return served.granted || c.why(served, t) != ""
		case t.what == joins && c.taken[t] != nil:
			return false
		}
	}
	return false
}

// excuse counts what came by one change and went by another, if it was too short to be seen.
func (c *checker) excuse(first, last *change) {
	why := c.why(first, last)
	if why == "" {
		c.missed(first, last)
		return
	}
	if first.what == proclaims {
		last = first
	}
	c.hidden[first], c.hidden[last] = why, why
	c.counts["came and went "+why]++
}

const (
	inDarkness = "in darkness"
	inInterval = "within one interval"
	inStretch  = "within the stretch of a line"
	inStall    = "in a silence of the proxy"
	inSilence  = "within the stretch of a line of another row"
)

func (c *checker) why(first, last *change) string {
	interval := c.every(first.row)
	if first.what == joins || first.what == leaves {
		interval = max(interval, c.queue+c.slack)
	}
	if (first.what == renews || first.what == proclaims) && c.nearOther(first, interval) {
		return inInterval
	}
	if first != last && last.from.Sub(first.to) <= interval {
		return inInterval
	}
	for _, d := range c.dark {
		if first == last && first.what == proclaims {
			break
		}
		if first.to.After(d.from.Add(-interval)) && last.from.Before(d.to) {
			return inDarkness
		}
	}
	switch {
	case slices.ContainsFunc(c.silences, func(d dark) bool { // a look that it delayed leaves a stretch that may hide changes until the next look
		return first.to.After(d.from.Add(-interval)) && last.from.Before(d.to.Add(interval))
	}):
		return inStall
	case covered(c.lines[first.row], first, last):
		return inStretch
	case covered(c.seen, first, last):
		return inSilence
	}
	return ""
}

// covered reports whether the stretch of one line has room for both changes.
func covered(lines []*line, first, last *change) bool {
	for _, l := range lines {
		if l.After != nil && l.within(first.from, first.to, 0) && l.within(last.from, last.to, 0) {
			return true
		}
	}
	return false
}

// nearOther reports whether another change of the row happened so soon before or after a
// renewal that one look can have shown both.
func (c *checker) nearOther(renewal *change, interval time.Duration) bool {
	for i := range c.truth[renewal.row] {
		t := &c.truth[renewal.row][i]
		if t != renewal && t.from.Sub(renewal.to) <= interval && renewal.from.Sub(t.to) <= interval {
			return true
		}
	}
	return false
}

func (c *checker) missed(first, last *change) {
	c.lie("missed", nil, "no line tells of the %s of %s by %s after %s and not after %s, and of what followed until %s",
		first.what, first.row, first.who, clock(first.from), clock(first.to), clock(last.to))
}
