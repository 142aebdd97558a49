package paint

import (
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

var causes = map[sources.Cause]string{
	sources.CauseReleased: "released", sources.CauseExpired: "lease ran out", sources.CauseDeleted: "deleted",
	sources.CauseEvicted: "ended by force", sources.CauseReplaced: "written over",
	sources.CauseRestart: "server restarted", sources.CauseSession: "session ended",
}

// Cause writes the cause of the end of an ownership, with a sign before an inferred one.
func (th *Theme) Cause(c sources.Cause, how sources.Known) string {
	text := causes[c]
	if text == "" {
		return "cause unknown"
	}
	return When(how == sources.Inferred, th.About) + text
}

// knownTexts describe how a time is known; other values have their own names.
var knownTexts = map[sources.Known]string{
	sources.AtLeast: "or before", sources.Bound: "at the earliest", sources.Claimed: "by the owner's clock",
}

// Spread returns the length of the stretch in which an event happened; 0 if its time is known to a
// tenth of a second.
func Spread(e *sources.Event) time.Duration {
	if e.After.IsZero() || e.Ref.Name == "" {
		return 0 // an event of a source has an exact time: the end of its silence limit
	}
	if d := e.At.Sub(e.After); d >= 100*time.Millisecond {
		return d
	}
	return 0
}

// When returns a text or a style if cond is true, else "". The text is evaluated in any case.
func When[S ~string](cond bool, text S) S {
	if cond {
		return text
	}
	return ""
}

// Count writes a number of things: "1 source", "3 sources".
func Count(n int, thing string) string {
	return format.Count(n) + " " + Plural(n, thing)
}

// Plural writes the name of n things without their number.
func Plural(n int, thing string) string { return thing + When(n != 1, "s") }

// KindPlural returns the plural ending of the name of a kind.
func KindPlural(k sources.Kind) string {
	if k == sources.KindMutex {
		return "es"
	}
	return "s"
}

// ShortDuration writes a sampling interval: "250ms", "1s", "1.5s".
func ShortDuration(d time.Duration) string {
	return d.Round(10 * time.Millisecond).String()
}

// Numeric reports whether a name consists of one number or two.
func Numeric(name string) bool {
	return name != "" && strings.Trim(name, "0123456789:-") == ""
}

// DropEmpty returns the words that are not empty.
func DropEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}
