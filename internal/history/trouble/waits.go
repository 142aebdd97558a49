package trouble

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// Waits returns the stays in queues that touch the span, the longest first. Next is the waiter itself if it was served
// in the end; Detail describes how the wait ended.
func Waits(in *Input) (all []Trouble) {
	type key struct {
		ref sources.Ref
		id  string
	}
	type wait struct {
		Trouble
		run   int64
		since time.Time // the wait began after this; zero: it may have begun at any time
	}
	waiting := map[key]wait{}
	end := func(k key, w wait, earliest time.Time) {
		if w.To.After(in.Span.To) {
			w.To = in.Span.To
		}
		w.Length = sources.Interval{Min: max(0, sources.Earlier(earliest, w.To).Sub(w.From)), Max: sources.Endless}
		if !w.since.IsZero() {
			w.Length.Max = w.To.Sub(w.since)
		}
		if w.To.After(in.Span.From) {
			all = append(all, w.Trouble)
		}
		delete(waiting, k)
	}
	unended := func(k key, w wait) { // the run may have ended before
		w.To, w.Detail = in.seenUntil(w.run), "not seen to end"
		end(k, w, w.To)
	}
	for i := range in.Events {
		e := &in.Events[i]
		k := key{e.Ref, e.Owner.ID}
		w, known := waiting[k]
		earliest := cmp.Or(e.After, e.At)
		switch w.To = e.At; {
		case !e.At.Before(in.Span.To):
		case e.Kind == sources.EventWaiterJoined && known && w.run == e.Run:
		case e.Kind == sources.EventWaiterJoined:
			if known {
				unended(k, w)
			}
			if e.How == sources.AtLeast {
				earliest = time.Time{}
			}
			waiting[k] = wait{Trouble{Kind: Waited, From: e.At, Source: e.Ref.Source, Refs: []sources.Ref{e.Ref}, Who: e.Owner}, e.Run, earliest}
		case known && e.At.After(in.seenUntil(w.run)): // it was not seen waiting until then
			unended(k, w)
		case known && e.Kind == sources.EventWaiterLeft:
			w.Detail = "left"
			end(k, w, earliest)
		case known && (e.Kind == sources.EventAcquired || e.Kind == sources.EventOwnerChanged):
			w.Next, w.Detail = e.Owner, "owned it then"
			end(k, w, earliest)
		}
	}
	for k, w := range waiting {
		unended(k, w)
	}
	slices.SortFunc(all, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(b.Length.Min, a.Length.Min), a.From.Compare(b.From), strings.Compare(a.Refs[0].Name, b.Refs[0].Name), strings.Compare(a.Who.ID, b.Who.ID))
	})
	return all
}

// longWaits returns the waits that are trouble. It leaves out candidates of an election, which always wait. Of
// simultaneous waits for one primitive it returns the longest; Times also counts those that ended soon.
func (in *Input) longWaits() (all []Trouble) {
	lanes, last := map[sources.Ref]*history.Lane{}, map[sources.Ref]int{} // index+1 of the last one in all
	for i := range in.Lanes {
		lanes[in.Lanes[i].Ref] = &in.Lanes[i]
	}
	waits := Waits(in)
	for _, w := range waits {
		l, ref := lanes[w.Refs[0]], w.Refs[0]
		if w.Length.Min < in.Thresholds.Wait || l != nil && l.Kind == sources.KindElection {
			continue
		}
		if at := last[ref] - 1; at >= 0 && w.From.Before(all[at].To) && all[at].From.Before(w.To) {
			continue
		}
		if w.Times = mostAtOnce(waits, &w); l != nil {
			for _, t := range slices.Backward(Under(l, &w)) {
				if !slices.ContainsFunc(w.Under, func(o sources.OwnerRef) bool { return o.Name() == t.Owner.Name() }) {
					w.Under = append(w.Under, t.Owner)
				}
			}
		}
		all = append(all, w)
		last[ref] = len(all)
	}
	return all
}

// mostAtOnce returns the largest number of simultaneous waits for the primitive during w.
func mostAtOnce(waits []Trouble, w *Trouble) (most int) {
	type step struct {
		at time.Time
		n  int
	}
	var steps []step
	for i := range waits {
		if x := &waits[i]; x.Refs[0] == w.Refs[0] && x.From.Before(w.To) && w.From.Before(x.To) {
			steps = append(steps, step{x.From, 1}, step{x.To, -1})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.n, b.n)) })
	n := 0
	for _, s := range steps {
		if n += s.n; s.at.Before(w.To) {
			most = max(most, n)
		}
	}
	return most
}

// Under returns the terms of a lane that touch a wait: those of the owners during it.
func Under(l *history.Lane, of *Trouble) []sources.Term {
	return slices.DeleteFunc(slices.Clone(l.Terms), func(t sources.Term) bool {
		return !t.Start.At.Before(of.To) || t.End.How != sources.Unknown && !t.End.At.After(of.From)
	})
}
