package trouble

import (
	"fmt"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Words escapes names for the output that contains a sentence.
type Words struct {
	Ref  func(sources.Ref) string // a primitive, with its source and alias
	Text func(string) string      // any other text from outside
}

// namedRefs is the most primitives that a sentence names.
const namedRefs = 3

// What returns a sentence about the trouble, with its primitives.
func (t *Trouble) What(w Words) string {
	where := t.Where(w, namedRefs)
	owner := w.Text(t.Who.Name())
	switch t.Kind {
	case Vacant:
		if len(t.Refs) > 1 {
			return fmt.Sprintf("%s elections had no leader (%s)", format.Count(len(t.Refs)), where)
		}
		return where + " had no leader"
	case Flapped:
		text := fmt.Sprintf("%s was lost %d times, again and again", where, t.Times)
		if t.Length.Max > 0 {
			text += ": without an owner for " + t.Length.Bounds() + " in all" + t.Length.Looks()
		}
		return text
	case Outage:
		return t.place(w) + " did not answer"
	case Restarted:
		return t.place(w) + " restarted"
	case Endless:
		return fmt.Sprintf("the lease of %s on %s has no end any more", owner, where)
	case Waited:
		if t.Times > 1 {
			owner += fmt.Sprintf(" and %d more", t.Times-1)
		}
		return fmt.Sprintf("%s waited for %s", owner, where)
	}
	if owner == "" {
		return fmt.Sprintf("%s locks were lost (%s)", format.Count(len(t.Refs)), where)
	}
	if len(t.Refs) > 1 {
		return fmt.Sprintf("%s lost %s locks (%s)", w.Text(HostOf(t.Who)), format.Count(len(t.Refs)), where)
	}
	return fmt.Sprintf("%s lost %s", owner, where)
}

// Where names at most so many of the primitives, and counts the others.
func (t *Trouble) Where(w Words, most int) string {
	var names []string
	for _, ref := range t.Refs[:min(len(t.Refs), most)] {
		names = append(names, w.Ref(ref))
	}
	return format.SomeOf(names, most, len(t.Refs))
}

// Lasted returns the length of the trouble for a table, until now if it still lasts; "" if it has no length.
func (t *Trouble) Lasted(now time.Time) string {
	switch {
	case t.Length.Max > 0 && len(t.Refs) > 1: // the longest of several
		return "≤ " + format.Precise(t.Length.Max)
	case t.Length.Max > 0:
		return t.Length.Short()
	case t.Kind == Lost || t.Kind == Restarted:
		return ""
	case t.To.IsZero():
		return "≥ " + format.Precise(now.Sub(t.From))
	}
	return format.Precise(t.To.Sub(t.From))
}

// place returns the source, with the scope if the trouble has one.
func (t *Trouble) place(w Words) string {
	if t.Scope != "" {
		return w.Text(t.Source) + " " + w.Text(t.Scope)
	}
	return w.Text(t.Source)
}

// Why returns the cause, as far as that is known.
func (t *Trouble) Why(w Words) string {
	if t.Ended == nil {
		if t.Kind == Waited {
			return t.held(w)
		}
		return w.Text(strings.TrimPrefix(t.Detail, sources.EndRemoved+"; "))
	}
	who, lease := w.Text(t.Who.Name()), "the lease of %s ran out"
	if len(t.Refs) > 1 {
		who, lease = w.Text(HostOf(t.Who)), "the leases of %s all ran out"
	}
	text := fmt.Sprintf(map[sources.Cause]string{
		sources.CauseReleased: "%s gave it up", sources.CauseExpired: lease, sources.CauseDeleted: "it was deleted under %s",
		sources.CauseEvicted: "%s was ended by force", sources.CauseReplaced: "another owner was written over %s",
		sources.CauseRestart: "the server restarted under %s", sources.CauseSession: "the session of %s ended",
		sources.CauseUnknown: "why %s lost it is not known",
	}[t.Ended.Cause], who)
	switch {
	case who == "":
		text = "the server restarted"
	case t.By != "":
		text = fmt.Sprintf("%s was ended by force by %s", who, w.Text(t.By))
	case t.Ended.Cause != sources.CauseUnknown && t.Ended.How == sources.Inferred:
		text += " (inferred)"
	}
	if t.Spread > 0 {
		text += " within " + format.Precise(t.Spread)
	}
	if t.Unseen {
		text += "; it was not observed then"
	}
	return text
}

// held names the owners during a wait.
func (t *Trouble) held(w Words) string {
	var names []string
	for _, o := range t.Under {
		names = append(names, w.Text(o.Name()))
	}
	if len(names) == 0 {
		return ""
	}
	return format.Some(names, namedRefs) + " owned it meanwhile"
}

// Then returns what followed.
func (t *Trouble) Then(w Words) string {
	next := w.Text(t.Next.Name())
	if len(t.Refs) > 1 {
		next = w.Text(HostOf(t.Next))
	}
	switch {
	case t.Kind == Waited && next == "":
		return t.Detail
	case next != "" && (t.Kind == Vacant || t.Kind == Flapped && t.Length.Max > 0):
		return "then " + next + " led"
	case next != "" && len(t.Refs) > 1:
		return "then " + next + " owned them"
	case next != "":
		return "then " + next + " owned it"
	case t.Kind == Outage && t.Unseen:
		return "then it was not recorded"
	case t.Kind == Outage && !t.To.IsZero():
		return "then it answered again"
	case t.Open:
		return "nobody saw how it went on"
	case t.Lasts():
		return "it lasts"
	}
	return ""
}
