package ui

import (
	"strconv"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// since is for how long the row has been as it is.
func (m *model) since(row *sources.Row, v verdict) string {
	now := m.asOf(row, v)
	switch {
	case len(row.Owners) == 1:
		return m.ageAt(row.Owners[0].Since, now)
	case len(row.Owners) == 0 && !row.Nobody.At.IsZero():
		return m.ageAt(row.Nobody, now)
	case len(row.Owners) > 1 || row.Taken > 0:
		return "" // of which one?
	}
	return "?"
}

// asOf is the instant to which the ages of a row are counted: where it is stale, they
// end when it was last known to be so.
func (m *model) asOf(row *sources.Row, v verdict) time.Time {
	if v.status != sources.StatusStale {
		return m.now
	}
	return row.KnownAt(m.st, m.now)
}

// age is ageAt now.
func (m *model) age(s sources.Stamp) string { return m.ageAt(s, m.now) }

// ageAt writes how long before now a stamp was: "≥" where it may be longer, or "?" while
// that would say no more than that time passes, "≤" where it may be less, "~" where the
// looks between which it lies are so far apart that it would read otherwise, in brackets
// where only the owner says so.
func (m *model) ageAt(s sources.Stamp, now time.Time) string {
	if s.How == sources.Unknown || s.At.IsZero() {
		return "?"
	}
	text := format.Age(now.Sub(s.At))
	switch {
	case s.How == sources.AtLeast && now.Sub(s.At) < sayable:
		return "?"
	case s.How == sources.AtLeast:
		return m.th.atLeast + coarse(now.Sub(s.At))
	case s.How == sources.Bound:
		return m.th.atMost + text
	case s.How == sources.Claimed:
		return "(" + text + ")"
	case ranged(s) && format.Age(now.Sub(s.After())) != text:
		return m.th.about + text
	}
	return text
}

// forAge is for how long something has been so now, as parts of a line; none where that is
// not known.
func (m *model) forAge(s sources.Stamp) []part { return m.forAgeAt(s, m.now) }

func (m *model) forAgeAt(s sources.Stamp, now time.Time) []part {
	text := m.ageAt(s, now)
	if text == "?" {
		return nil
	}
	return []part{{m.th.dim, " for "}, {"", text}}
}

// sayable is how long a lower bound must be to tell something.
const sayable = 10 * time.Second

// coarse writes a lower bound, down to 10 s and from a minute on to a minute. Just after
// the start every row has one: counted in seconds, all rows would be written anew every
// second.
func coarse(d time.Duration) string {
	switch {
	case d < time.Minute:
		return format.Age(d.Truncate(sayable))
	case d < 10*time.Minute:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	}
	return format.Age(d)
}

// ranged says whether a stamp lies between two looks a second or more apart.
func ranged(s sources.Stamp) bool {
	return s.How == sources.Seen && !s.After().IsZero() && s.At.Sub(s.After()) >= time.Second
}

// instant is the time of day of a stamp, with how it is known: both ends where it lies
// between two looks a second or more apart.
func (m *model) instant(s sources.Stamp) string {
	switch {
	case s.How == sources.Unknown || s.At.IsZero():
		return ""
	case ranged(s):
		return m.timeOfDay(s.After()) + " to " + m.timeOfDay(s.At) + " " + knownText(s.How)
	}
	return m.timeOfDay(s.At) + " " + knownText(s.How)
}

// timeOfDay writes a time of today as hours, another one with its date.
func (m *model) timeOfDay(t time.Time) string {
	t = t.In(m.now.Location())
	if m.now.Sub(t) < 12*time.Hour || t.YearDay() == m.now.YearDay() {
		return t.Format("15:04:05")
	}
	return t.Format("Jan 2 15:04")
}

// agoWord says to which instant an age is counted.
func agoWord(stale bool) string {
	if stale {
		return "before that"
	}
	return "ago"
}
