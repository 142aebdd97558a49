package screen

import (
	"slices"
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// emptyLocks explains why the list has no rows, and how to change that.
func emptyLocks(sc *Scene, w int) []string {
	say := func(st paint.Style, text string) string { return sc.Theme.Line(w).Skip(3).Put(st, text).Done() }
	blank := sc.Theme.Line(w).Done()
	switch x := &sc.Rows; {
	case x.Total > 0 && x.Problems:
		return append([]string{blank}, noProblems(sc, say)...)
	case x.Total > 0 && !x.Filter.Empty():
		lines := []string{blank, say("", "the filter selects none of "+paint.Count(x.Total, "row")+": "+sc.Filter.Text)}
		if x.Filter.Expr.Counts() {
			lines = append(lines, say("", "wait without a unit counts the waiters; wait>30s is about how long they wait"))
		} else {
			lines = append(lines, filterMend(sc, say)...)
		}
		return append(lines, say(sc.Theme.Dim, sc.Keys.KeyIn(keys.InLocks, keys.Clear)+" clears the filter"))
	case x.Total > 0:
		return []string{blank, say("", "none of "+paint.Count(x.Total, "primitive")+" is a "+x.Kind.String()),
			say(sc.Theme.Dim, sc.Keys.KeyOf(keys.Kind)+" shows other kinds, "+sc.Keys.KeyIn(keys.InLocks, keys.Clear)+" all")}
	case sc.Replay != nil && !slices.ContainsFunc(sc.State.Sources, func(s sources.SourceStatus) bool { return answered(sc, &s) }):
		return []string{blank, say("", "nothing recorded yet at this time; "+sc.Keys.KeyOf(keys.NextEvent)+" goes to the next event")}
	case len(sc.State.Sources) == 0:
		return []string{blank, say("", "no source has started yet")}
	}
	lines := []string{blank}
	for i := range sc.State.Sources {
		s := &sc.State.Sources[i]
		lines = append(lines, say("", expectation(sc, s)))
	}
	return lines
}

// noProblems replaces the rows if only problems are listed and none is known.
func noProblems(sc *Scene, say func(paint.Style, string) string) []string {
	x, blind := &sc.Rows, sc.Rows.Blind
	of := "among " + paint.Count(x.Total-blind, "primitive")
	esc := sc.Keys.KeyOf(keys.Problems) + " shows all of them"
	if x.Kind != sources.KindUnknown {
		of = "among the " + x.Kind.String() + paint.KindPlural(x.Kind)
	}
	if !x.Filter.Empty() {
		of = "in what the filter \"" + sc.Filter.Text + "\" selects"
		esc = sc.Keys.KeyOf(keys.Problems) + " shows all that it selects, " + sc.Keys.KeyIn(keys.InLocks, keys.Clear) + " clears the filter"
	}
	lines := []string{say(sc.Theme.Good, "no problems "+of)}
	if blind == x.Total {
		lines = nil // no row is known to have no problem
	} else if n := x.ProblemRows(); n > 0 {
		lines[0] = say("", "no problems "+of+"; "+format.Count(n)+" elsewhere")
	}
	if blind > 0 {
		lines = append(lines, say(sc.Theme.Warn, paint.Count(blind, "row")+" cannot be judged: stale, or not told by the backend"))
	}
	return append(append(lines, filterMend(sc, say)...), say(sc.Theme.Dim, esc))
}

// filterMend draws the mistake of a filter that selects nothing, or what it probably means.
func filterMend(sc *Scene, say func(paint.Style, string) string) []string {
	if mend := sc.Rows.Filter.Mistake; mend != nil {
		return []string{say(sc.Theme.Warn, paint.Clean(mend.Text))}
	}
	if meant := sc.Rows.Meant(); meant != "" {
		return []string{say("", meant)}
	}
	return nil
}

// answered reports whether a source has finished its first listing, or failed.
func answered(sc *Scene, s *sources.SourceStatus) bool {
	return s.Err != nil || s.Health != sources.HealthConnecting && allSynced(sc, s)
}

// expectation describes the state of a source without rows.
func expectation(sc *Scene, s *sources.SourceStatus) string {
	address := " (" + paint.Clean(s.Type) + " " + paint.Clean(s.Address) + ")"
	where := paint.Clean(s.Name) + address
	switch {
	case s.Health == sources.HealthConnecting && s.Err == nil:
		return "connecting to " + where
	case s.Health == sources.HealthLive && allSynced(sc, s):
		return paint.Clean(s.Name) + " answers: nothing there matches what is watched" + address
	case s.Health == sources.HealthLive:
		return "reading " + where
	}
	return where + " does not answer: " + strings.Join(paint.DropEmpty(why(s), retryText(sc, s)), ", ")
}

// allSynced reports whether all of a source's listings are complete.
func allSynced(sc *Scene, s *sources.SourceStatus) bool {
	return !slices.ContainsFunc(scopesOf(sc, s), func(c *sources.Scope) bool { return !c.Synced })
}
