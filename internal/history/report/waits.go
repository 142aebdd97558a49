package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/internal/history"
	"coordtop/sources"
)

// Of how many waits a report tells, and of which.
const (
	mostWaits = 20
	shortWait = time.Second // a shorter one is none of them
)

// wait is one stay in a queue.
type wait struct {
	ref      sources.Ref
	who      sources.OwnerRef
	from, to time.Time
	end      string
	owners   string
}

// readWaits reads who waited longest, under the owners of lanes.
func (r *Report) readWaits(ctx context.Context, reader history.EventReader, refs []sources.Ref) error {
	events, err := reader.Events(ctx, r.Span.From, mostEvents/4, mostEvents, history.EventFilter{Refs: refs, Kinds: []sources.EventKind{
		sources.EventWaiterJoined, sources.EventWaiterLeft, sources.EventAcquired, sources.EventOwnerChanged}})
	type key struct {
		ref sources.Ref
		id  string
	}
	waiting, runs := map[key]wait{}, map[key]int64{}
	end := func(k key, at time.Time, how string) {
		w := waiting[k]
		w.to, w.end = sources.Earlier(at, r.Span.To), how
		if w.to.After(r.Span.From) && w.to.Sub(w.from) >= shortWait {
			r.waits = append(r.waits, w)
		}
		delete(waiting, k)
	}
	for i := range events {
		e := &events[i]
		k := key{e.Ref, e.Owner.ID}
		_, known := waiting[k]
		switch {
		case !e.At.Before(r.Span.To):
		case e.Kind == sources.EventWaiterJoined:
			if !known || runs[k] != e.Run {
				waiting[k], runs[k] = wait{ref: e.Ref, who: e.Owner, from: e.At}, e.Run
			}
		case known && e.Kind == sources.EventWaiterLeft:
			end(k, e.At, "left")
		case known:
			end(k, e.At, "owned it then")
		}
	}
	for k := range waiting { // its run may have ended first
		until := r.Span.To
		for _, run := range r.runs {
			if run.ID == runs[k] && !run.Live {
				until = sources.Earlier(until, run.To)
			}
		}
		end(k, until, "not seen to end")
	}
	slices.SortFunc(r.waits, func(a, b wait) int {
		return cmp.Or(cmp.Compare(b.to.Sub(b.from), a.to.Sub(a.from)), a.from.Compare(b.from), strings.Compare(a.ref.Name, b.ref.Name), strings.Compare(a.who.ID, b.who.ID))
	})
	r.waits = r.waits[:min(len(r.waits), mostWaits)]
	for i := range r.waits {
		w := &r.waits[i]
		if at := slices.IndexFunc(r.lanes, func(l history.Lane) bool { return l.Ref == w.ref }); at >= 0 {
			w.owners = ownersOf(between(&r.lanes[at], w.from, w.to))
		}
	}
	return err
}

// between are the terms of a lane that touch a stretch.
func between(l *history.Lane, from, to time.Time) []sources.Term {
	return slices.DeleteFunc(slices.Clone(l.Terms), func(t sources.Term) bool {
		return !t.Start.At.Before(to) || t.End.How != sources.Unknown && !t.End.At.After(from)
	})
}

// waitTable is a line for each of the longest waits.
func (r *Report) waitTable(b *strings.Builder) {
	b.WriteString("\n## Longest waits\n\n")
	if len(r.waits) == 0 {
		b.WriteString("Nobody was seen to wait for a second. Not every server tells who waits.\n")
		return
	}
	b.WriteString("| from | to | waited | primitive | who | under | end |\n|---|---|--:|---|---|---|---|\n")
	for _, w := range r.waits {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.at(w.from), r.at(w.to), format.Precise(w.to.Sub(w.from)), r.called(w.ref), cell(w.who.Name()), w.owners, w.end)
	}
}
