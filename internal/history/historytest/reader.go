package historytest

import (
	"context"
	"slices"
	"strings"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// Events returns recorded events around an instant.
func (l *Log) Events(_ context.Context, at time.Time, before, after int, ref sources.Ref) ([]history.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var earlier, later []history.Event
	for _, r := range l.runs {
		for _, e := range r.events {
			switch {
			case e.Kind == sources.EventRenewed, ref.Source != "" && ref != e.Ref:
			case e.At.Before(at):
				earlier = append(earlier, history.Event{Event: e, Run: r.ID})
			default:
				later = append(later, history.Event{Event: e, Run: r.ID})
			}
		}
	}
	return slices.Concat(earlier[max(len(earlier)-before, 0):], later[:min(len(later), after)]), nil
}

// Lanes returns the terms that the rows had at the end of each run.
func (l *Log) Lanes(_ context.Context, refs []sources.Ref, span history.Span) ([]history.Lane, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if refs == nil {
		refs = l.refsLocked()
	}
	lanes := make([]history.Lane, len(refs))
	for i, ref := range refs {
		lanes[i] = l.laneLocked(ref, span)
	}
	return lanes, nil
}

func (l *Log) refsLocked() []sources.Ref {
	var refs []sources.Ref
	for _, r := range l.runs {
		for _, row := range r.hub.State().Rows {
			if row != nil && !slices.Contains(refs, row.Ref) {
				refs = append(refs, row.Ref)
			}
		}
	}
	slices.SortFunc(refs, func(a, b sources.Ref) int { return strings.Compare(a.Name, b.Name) })
	return refs
}

func (l *Log) laneLocked(ref sources.Ref, span history.Span) history.Lane {
	lane := history.Lane{Ref: ref}
	var ended time.Time
	for _, r := range l.runs {
		state := r.hub.State()
		row := r.hub.Row(state, ref)
		if row == nil {
			continue
		}
		began := row.RecordedSince(state)
		if lane.Kind = row.Kind; lane.Since.IsZero() {
			lane.Since = began
		}
		if !ended.IsZero() {
			lane.Dark = append(lane.Dark, sources.Dark{From: ended, To: began})
		}
		lane.Dark = append(lane.Dark, row.Unobserved(state)...)
		for _, term := range row.Terms {
			if n := len(lane.Terms); n > 0 && lane.Terms[n-1].End.How == sources.Unknown {
				if last := &lane.Terms[n-1]; last.Owner == term.Owner { // it went on while nobody recorded
					last.End, last.Cause, last.How = term.End, term.Cause, term.How
					continue
				}
				lane.Terms[n-1].End = sources.StampBetween(ended, began, sources.Seen)
			}
			lane.Terms = append(lane.Terms, term)
		}
		lane.Levels = slices.AppendSeq(lane.Levels, row.Levels())
		ended = r.To
	}
	lane.Terms = slices.DeleteFunc(lane.Terms, func(t sources.Term) bool {
		return !t.Start.At.Before(span.To) || t.End.How != sources.Unknown && t.End.At.Before(span.From)
	})
	lane.Dark = slices.DeleteFunc(lane.Dark, func(d sources.Dark) bool { return !d.From.Before(span.To) || d.To.Before(span.From) })
	return lane
}

// Totals is not answered.
func (l *Log) Totals(context.Context, history.Span) ([]history.Total, error) {
	return nil, nil
}
