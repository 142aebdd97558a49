package truth

import "time"

// untold judges the changes that no line tells of. Two that follow each other, and end where
// they began, came and went.
func (c *checker) untold(changes []*change, told []bool) {
	var open *change
	for i, t := range changes {
		switch {
		case t.what == renews && !told[i]:
			c.excuse(t, t)
		case t.what == renews:
		case told[i] && open != nil:
			c.missed(open, open)
			open = nil
		case told[i]:
		case open == nil && t.granted && c.toldToOwn(t):
		case open == nil:
			open = t
		default:
			c.excuse(open, t)
			open = nil
		}
	}
	if open != nil {
		c.missed(open, open)
	}
}

// toldToOwn reports whether a line tells that a waiter that was served owns the row.
func (c *checker) toldToOwn(served *change) bool {
	found := false
	for i := range c.truth[served.row] {
		t := &c.truth[served.row][i]
		if found && t.what == begins && t.who == served.who {
			return c.taken[t] != nil
		}
		found = found || t == served
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
	c.hidden[first], c.hidden[last] = why, why
	c.counts["came and went "+why]++
}

const (
	inDarkness = "in darkness"
	inInterval = "within one interval"
	inStretch  = "within the stretch of a line"
	inSilence  = "within the stretch of a line of another row"
)

func (c *checker) why(first, last *change) string {
	interval := c.interval
	if first.what == joins || first.what == leaves {
		interval = max(interval, c.queue)
	}
	interval += c.slack
	if first.what == renews && c.nearOther(first, interval) {
		return inInterval
	}
	if first != last && last.from.Sub(first.to) <= interval {
		return inInterval
	}
	for _, d := range c.dark {
		if first.to.After(d.from.Add(-interval)) && last.from.Before(d.to) {
			return inDarkness
		}
	}
	switch {
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
