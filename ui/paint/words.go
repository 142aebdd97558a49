package paint

import (
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Cause says why an owner is gone; what is only inferred has a sign before it.
func (th *Theme) Cause(c sources.Cause, how sources.Known) string {
	text := map[sources.Cause]string{
		sources.CauseReleased: "released", sources.CauseExpired: "lease ran out", sources.CauseDeleted: "deleted", sources.CauseEvicted: "ended by force",
		sources.CauseReplaced: "written over", sources.CauseRestart: "server restarted", sources.CauseSession: "session ended",
	}[c]
	switch {
	case text == "":
		return "cause unknown"
	case how == sources.Inferred:
		return th.About + text
	}
	return text
}

// knownText says how a time is known.
func knownText(how sources.Known) string {
	if text := map[sources.Known]string{sources.AtLeast: "or before", sources.Bound: "at the earliest", sources.Claimed: "by the owner's clock"}[how]; text != "" {
		return text
	}
	return how.String()
}

// Spread says over how long a stretch an event may have happened; 0 where it is known
// to a tenth of a second.
func Spread(e *sources.Event) time.Duration {
	if e.After.IsZero() || e.Ref.Name == "" {
		return 0 // of a source, the end of its silence limit is what is told
	}
	if d := e.At.Sub(e.After); d >= 100*time.Millisecond {
		return d
	}
	return 0
}

// Count writes a number of things: "1 source", "3 sources".
func Count(n int, thing string) string {
	return format.Count(n) + " " + Plural(n, thing)
}

// Plural is the name of n things without their number.
func Plural(n int, thing string) string {
	if n == 1 {
		return thing
	}
	return thing + "s"
}

// KindPlural makes the name of a kind a plural.
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

// Numeric reports whether a name is only a number, or two.
func Numeric(name string) bool {
	return name != "" && strings.Trim(name, "0123456789:-") == ""
}

// DropEmpty returns those of the words that are not empty.
func DropEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}
