package screen

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/paint"
)

// RunText describes an action in a line: its verb, its row and its phase.
func RunText(sc *Scene, r *action.Run) string {
	text := r.Request.Verb.String() + " " + NameOf(sc, r.Request.Target.Ref) + ": "
	if r.Phase == action.Seen && r.Text != "" { // the text includes the phase
		return text + paint.Clean(r.Text)
	}
	return text + phaseText(r) + paint.When(r.Text != "", ", "+paint.Clean(r.Text))
}

// phaseText returns the phase of an action, with our place in the queue.
func phaseText(r *action.Run) string {
	text := r.Phase.String()
	if r.Phase != action.Waiting || r.Place == 0 {
		return text
	}
	return text + ", place " + strconv.Itoa(r.Place) + paint.When(r.AtMost, " or before")
}

// RunUnder returns our newest action on a row that is not over yet; nil: there is none.
func RunUnder(sc *Scene, ref sources.Ref) *action.Run {
	for i := len(sc.Status.Runs) - 1; i >= 0; i-- {
		if r := &sc.Status.Runs[i]; r.Request.Target.Ref == ref && !r.Phase.Over() {
			return r
		}
	}
	return nil
}

// pendingText returns the text behind a row's state while an action of ours is under way.
func pendingText(sc *Scene, ref sources.Ref) string {
	r := RunUnder(sc, ref)
	if r == nil {
		return ""
	}
	return ", pending: " + r.Request.Verb.String() + " " + phaseText(r)
}

// IsOurs reports whether an owner of a row is this program.
func IsOurs(sc *Scene, ref sources.Ref, o *sources.Owner) bool {
	return slices.ContainsFunc(sc.Status.Holdings, func(h action.Holding) bool { return h.Ref == ref && h.Owns(o) })
}

// Us is the text behind the name of an owner that is this program.
const Us = " (us)"

// ownerLabel returns the label of an owner in at most w cells (0: any number), with Us behind it if it
// is this program.
func ownerLabel(sc *Scene, ref sources.Ref, o *sources.Owner, w int) string {
	label := paint.CleanLabel(o.Label)
	if !IsOurs(sc, ref, o) {
		return label
	}
	if w > 0 {
		label = sc.Theme.Cut(label, w-len(Us))
	}
	return label + Us
}

// Held counts the leases that we hold and wait for, and returns the earliest end of trust; zero: none
// ends by itself.
func Held(sc *Scene) (holding, waiting int, until time.Time) {
	for i := range sc.Status.Holdings {
		h := &sc.Status.Holdings[i]
		if h.Waiting {
			waiting++
			continue
		}
		holding++
		if !h.Until.IsZero() && (until.IsZero() || h.Until.Before(until)) {
			until = h.Until
		}
	}
	return holding, waiting, until
}

// actionLines lists our last actions on a row, newest first.
func actionLines(sc *Scene, row *sources.Row, w int) []string {
	return RunLines(sc, w, 2, "OUR ACTIONS", &row.Ref)
}

const (
	runsShown = 4  // the greatest number of listed actions
	runName   = 24 // the width of the names of rows
)

// RunLines lists our last actions, newest first, under a title: those on one row, or on all rows if of
// is nil. Long results are wrapped.
func RunLines(sc *Scene, w, indent int, title string, of *sources.Ref) []string {
	var lines []string
	shown := 0
	runs := slices.Clone(sc.Status.Runs)
	slices.SortStableFunc(runs, func(a, b action.Run) int { return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID)) })
	for i := range runs {
		if r := &runs[i]; shown < runsShown && (of == nil || r.Request.Target.Ref == *of) {
			shown++
			st := sc.Theme.Dim
			switch r.Phase {
			case action.Failed, action.Missed, action.Changed, action.Unseen, action.Unknown:
				st = sc.Theme.Warn
			case action.Seen:
				st = sc.Theme.Good
			}
			l := sc.Theme.Line(w).Skip(indent).Put(sc.Theme.Dim, paint.TimeOfDay(r.Started, sc.Now)).Skip(2).Put("", r.Request.Verb.String()+" ")
			if of == nil {
				l.Put("", sc.Theme.FitName(NameOf(sc, r.Request.Target.Ref), runName)).Skip(2)
			}
			l.Put(st, r.Phase.String())
			if took := r.Changed.Sub(r.Started); r.Phase.Over() && took >= time.Second {
				l.Put(sc.Theme.Dim, " after "+format.Precise(took))
			}
			if r.Text != "" {
				l.Put("", ", ")
				for i, s := range paint.Wrap(paint.Clean(r.Text), w-l.X) {
					if i > 0 {
						lines = append(lines, l.Done())
						l = sc.Theme.Line(w).Skip(indent + len("15:04:05") + 2)
					}
					l.Put("", s)
				}
			}
			lines = append(lines, l.Done())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{sc.Theme.Line(w).Skip(indent).Put(sc.Theme.Dim, title).Done()}, lines...)
}
