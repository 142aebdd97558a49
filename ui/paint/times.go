package paint

import (
	"cmp"
	"strconv"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Age writes the time since a stamp: with "≥" if it may be longer, also because the stamp lies
// between two looks and the text for the first one would differ; "?" for a lower bound that is too
// short to tell anything; with "≤" if it may be shorter; in brackets if only the owner tells it.
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

// ForAge returns " for " and the time since a stamp as parts of a line; none if it is unknown.
func (th *Theme) ForAge(s sources.Stamp, now time.Time) []Part {
	text := th.Age(s, now)
	if text == "?" {
		return nil
	}
	return []Part{th.Dim.Text(" for "), Plain(text)}
}

// Left writes the rest of a time that began at a stamp: with "≤" if it may have begun earlier, with
// "≥" if it may have begun later.
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

// sayable is the length from which on a lower bound tells something.
const sayable = 10 * time.Second

// coarse writes a lower bound in steps of 10 s, from a minute on in minutes. Just after the start
// every row has a lower bound: in seconds, all rows would be redrawn every second.
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

// Instant writes the time of day of a stamp and how it is known; both ends if it lies between two
// looks a second or more apart.
func Instant(s sources.Stamp, now time.Time) string {
	if s.How == sources.Unknown || s.At.IsZero() {
		return ""
	}
	how := cmp.Or(knownTexts[s.How], s.How.String())
	return When(ranged(s), TimeOfDay(s.After(), now)+" to ") + TimeOfDay(s.At, now) + " " + how
}

// TimeOfDay writes a time of today as 15:04:05, another one with its date.
func TimeOfDay(t, now time.Time) string {
	t = t.In(now.Location())
	if now.Sub(t).Abs() < 12*time.Hour || t.YearDay() == now.YearDay() {
		return t.Format("15:04:05")
	}
	return t.Format("Jan 2 15:04")
}

// Roughly returns the sign before an instant that is not exact; "": it is.
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

// TermLength writes the length of a term that has ended: with "≥" if it began before the first look
// or its end is in doubt, with "≤" if it may have begun later.
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
