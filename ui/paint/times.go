package paint

import (
	"strconv"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Age writes how long before now a stamp was: "≥" where it may be longer, also because it lies
// between two looks so far apart that the text would be another, or "?" while
// that would say no more than that time passes; "≤" where it may be less, in brackets
// where only the owner says so.
func (th *Theme) Age(s sources.Stamp, now time.Time) string {
	if s.How == sources.Unknown || s.At.IsZero() {
		return "?"
	}
	text := format.Age(now.Sub(s.At))
	switch {
	case s.How == sources.AtLeast && now.Sub(s.At) < sayable:
		return "?"
	case s.How == sources.AtLeast:
		return th.AtLeast + coarse(now.Sub(s.At))
	case s.How == sources.Bound:
		return th.AtMost + text
	case s.How == sources.Claimed:
		return "(" + text + ")"
	case ranged(s) && format.Age(now.Sub(s.After())) != text:
		return th.AtLeast + text
	}
	return text
}

// ForAge is for how long something has been so, as parts of a line; none where that is not
// known.
func (th *Theme) ForAge(s sources.Stamp, now time.Time) []Part {
	text := th.Age(s, now)
	if text == "?" {
		return nil
	}
	return []Part{th.Dim.Text(" for "), Plain(text)}
}

// Left writes the rest of a time that began at a stamp: "≤" where that may have been
// earlier, "≥" where it may have been later.
func (th *Theme) Left(began sources.Stamp, left time.Duration) string {
	text := format.Left(left)
	switch {
	case began.How == sources.AtLeast, ranged(began):
		return th.AtMost + text
	case began.How == sources.Bound:
		return th.AtLeast + text
	}
	return text
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

// ranged reports whether a stamp lies between two looks a second or more apart.
func ranged(s sources.Stamp) bool {
	return s.How == sources.Seen && !s.After().IsZero() && s.At.Sub(s.After()) >= time.Second
}

// Instant is the time of day of a stamp, with how it is known: both ends where it lies
// between two looks a second or more apart.
func Instant(s sources.Stamp, now time.Time) string {
	switch {
	case s.How == sources.Unknown || s.At.IsZero():
		return ""
	case ranged(s):
		return TimeOfDay(s.After(), now) + " to " + TimeOfDay(s.At, now) + " " + knownText(s.How)
	}
	return TimeOfDay(s.At, now) + " " + knownText(s.How)
}

// TimeOfDay writes a time of today as hours, another one with its date.
func TimeOfDay(t, now time.Time) string {
	t = t.In(now.Location())
	if now.Sub(t).Abs() < 12*time.Hour || t.YearDay() == now.YearDay() {
		return t.Format("15:04:05")
	}
	return t.Format("Jan 2 15:04")
}

// Roughly is the sign of an instant that lies between two looks, was there before the
// first, cannot have been earlier, or is the owner's word.
func (th *Theme) Roughly(s sources.Stamp) string {
	switch {
	case s.How == sources.AtLeast:
		return th.AtMost
	case s.How == sources.Bound:
		return th.AtLeast
	case s.How == sources.Claimed || ranged(s):
		return th.About
	}
	return ""
}

// TermLength is how long a term lasted that is over: "≥" where it began before we looked, or is in
// doubt, "≤" where it cannot have begun earlier.
func (th *Theme) TermLength(t *sources.Term) string {
	text, held := format.Age(t.End.At.Sub(t.Start.At)), t.Held()
	switch {
	case t.Start.How == sources.Bound && t.Sure.IsZero():
		return th.AtMost + text
	case held.Max == sources.Endless || !t.Sure.IsZero():
		return th.AtLeast + format.Age(held.Min)
	case th.Roughly(t.Start) != "" || th.Roughly(t.End) != "":
		return th.About + text
	}
	return text
}
