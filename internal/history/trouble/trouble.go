package trouble

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// Kind is a kind of trouble.
type Kind uint8

// The kinds, the gravest first.
const (
	Vacant    Kind = iota // nobody led
	Flapped               // a lock was lost again and again
	Outage                // a source did not answer
	Endless               // a lease no longer expires
	Restarted             // a server restarted
	Lost                  // an owner lost it against its will, without any of the above
	Waited                // somebody waited for long
)

// Trouble is one thing that went wrong.
type Trouble struct {
	Kind   Kind
	From   time.Time
	To     time.Time          // zero: it still lasts at the end of the span, or it is an instant
	Length sources.Interval   // how long it is known to have lasted; of several the longest. Zero: it has no length
	Times  int                // Flapped: how often it was lost; Waited: how many waited at the same time
	Source string             // source of the primitives, or the one that did not answer
	Scope  string             // of an Outage
	Refs   []sources.Ref      // the primitives; empty: it concerns the source
	Who    sources.OwnerRef   // who led, owned or waited; of several the first; zero if they were on several hosts
	Next   sources.OwnerRef   // who took it (Flapped: in the end); of several the first, if one host took all. Zero: nobody, or several hosts
	Spread time.Duration      // between the first and the last end of several
	Ended  *sources.Term      // the term that ended; of several the first. Nil: it is not about an end
	By     string             // who ended it by force, and why; "": nobody that is known
	Under  []sources.OwnerRef // Waited: the owners during the wait, the last one first
	Detail string             // detail of an event
	Unseen bool               // the trouble began or ended while nobody observed it
	Open   bool               // nobody saw whether the trouble lasts
}

// Input is the part of a recording that Find searches, see Read.
type Input struct {
	Span       history.Span
	Lanes      []history.Lane
	Events     []history.Event // in order; those before Span show who already waits, and what is down
	UpTo       time.Time       // later events of queues were too many to be read; zero: all were read
	Runs       []history.Run
	Acts       []sources.Event // actions of people, see history.Acts
	Thresholds sources.Thresholds
}

// Find returns what went wrong, in order of time.
func Find(in *Input) []Trouble {
	var all []Trouble
	for i := range in.Lanes {
		all = append(all, in.flapped(in.lost(&in.Lanes[i]))...)
	}
	all = append(in.together(all), in.ofSources()...)
	all = append(all, in.endless()...)
	all = append(all, in.longWaits()...)
	slices.SortStableFunc(all, func(a, b Trouble) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Kind, b.Kind)) })
	return all
}

// Lasts reports whether the trouble still lasted at the end of the span.
func (t *Trouble) Lasts() bool { return t.To.IsZero() && t.Kind <= Endless && !t.Open }

// Worst returns a copy of the result of Find in the order of gravity: troubles that last first, then the gravest kind,
// then the longest and the largest.
func Worst(all []Trouble) []Trouble {
	all = slices.Clone(all)
	lasts := func(t *Trouble) int {
		if t.Lasts() {
			return 0
		}
		return 1
	}
	weight := func(t *Trouble) time.Duration { return t.Length.Min * time.Duration(max(len(t.Refs), 1)) }
	slices.SortStableFunc(all, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(lasts(&a), lasts(&b)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(weight(&b), weight(&a)))
	})
	return all
}

// lost returns the losses of a primitive.
func (in *Input) lost(l *history.Lane) (all []Trouble) {
	gaps := map[int64]lane.Gap{} // by the end of the term before
	if !l.Leveled() {
		for _, g := range l.Gaps(in.Span) {
			gaps[g.Start.At.UnixNano()] = g
		}
	}
	terms := l.Terms
	if l.Before != nil {
		terms = slices.Insert(slices.Clone(terms), 0, *l.Before)
	}
	for i := range terms {
		t := &terms[i]
		if t.End.How == sources.Unknown || t.End.How == sources.Bound || t.End.At.After(in.Span.To) {
			continue
		}
		g, vacant := gaps[t.End.At.UnixNano()]
		if vacant = vacant && l.Kind != sources.KindMutex && g.Sum.Max > 0; !vacant && t.End.At.Before(in.Span.From) {
			continue
		}
		long := vacant && g.Unbroken.Max >= in.Thresholds.LossGap
		by := history.ForcedBy(l.Ref, t, in.Acts) // the recorded cause may be only inferred
		if !long && by == "" && !t.Cause.Loss(t.How) {
			continue
		}
		x := Trouble{Kind: Lost, From: t.End.At, Source: l.Ref.Source, Refs: []sources.Ref{l.Ref}, Who: t.Owner, Ended: t,
			By: by, Unseen: t.End.Within() > sources.Promptness && inDark(l.Dark, t.End)}
		if i+1 < len(terms) && !l.Leveled() {
			x.To, x.Next = terms[i+1].Start.At, terms[i+1].Owner
		}
		if vacant {
			x.Kind, x.Length, x.To, x.Open = Vacant, g.Unbroken, time.Time{}, !g.Lasts && g.After == nil
			if g.After != nil {
				x.To, x.Next = g.End.At, g.After.Owner
			}
		}
		all = append(all, x)
	}
	return all
}

// inDark reports whether an instant may lie in a stretch without observation.
func inDark(dark []sources.Dark, at sources.Stamp) bool {
	return slices.ContainsFunc(dark, func(d sources.Dark) bool {
		return d.From.Before(at.At) && (d.To.IsZero() || d.To.After(at.Earliest()))
	})
}

// flapped joins the losses of a primitive that follow each other closely.
func (in *Input) flapped(all []Trouble) []Trouble {
	most := in.Thresholds.FlapLosses
	for first := 0; first+most < len(all); first++ {
		if all[first+most].From.Sub(all[first].From) > in.Thresholds.FlapWithin {
			continue
		}
		last := first + most
		for last+1 < len(all) && all[last+1].From.Sub(all[last+1-most].From) <= in.Thresholds.FlapWithin {
			last++
		}
		one := all[first]
		one.Kind, one.Times, one.Length = Flapped, last-first+1, sources.Interval{}
		one.To, one.Next = all[last].To, all[last].Next
		for i := first; i <= last; i++ {
			if all[i].Kind == Vacant {
				one.Length = one.Length.Plus(all[i].Length)
			}
			one.By = cmp.Or(one.By, all[i].By)
		}
		all = slices.Replace(all, first, last+1, one)
	}
	return all
}

// meanwhile bounds the time between two ends that count as one trouble.
const meanwhile = time.Second

// alike is the key of losses that are one trouble.
type alike struct {
	kind   Kind
	source string
	host   string // "": losses of all hosts, because the server took it from them
	cause  sources.Cause
}

// together joins the losses of one host at one source at the same time, or of all hosts by a restart of the
// server.
func (in *Input) together(all []Trouble) (joined []Trouble) {
	slices.SortStableFunc(all, func(a, b Trouble) int { return a.From.Compare(b.From) })
	last := map[alike]int{} // the place in joined, from 1
	for i := range all {
		t := &all[i]
		key := alike{t.Kind, t.Source, HostOf(t.Who), t.Ended.Cause}
		if key.cause == sources.CauseRestart {
			key.host = ""
		}
		at := last[key] - 1
		if at < 0 || t.Kind == Flapped || t.From.Sub(joined[at].From) > meanwhile {
			joined = append(joined, *t)
			last[key] = len(joined)
			continue
		}
		o := &joined[at]
		o.Refs = append(o.Refs, t.Refs...)
		o.Spread = t.From.Sub(o.From)
		if t.Length.Min > o.Length.Min {
			o.Length = t.Length
		}
		if HostOf(o.Next) != HostOf(t.Next) {
			o.Next = sources.OwnerRef{}
		}
		if HostOf(o.Who) != HostOf(t.Who) {
			o.Who = sources.OwnerRef{}
		}
		if t.To.IsZero() || !o.To.IsZero() && t.To.After(o.To) {
			o.To = t.To
		}
		o.By, o.Unseen, o.Open = cmp.Or(o.By, t.By), o.Unseen || t.Unseen, o.Open || t.Open
	}
	return joined
}

// HostOf returns the part of a name that all owners on one host share, without the part that distinguishes their
// processes.
func HostOf(o sources.OwnerRef) string {
	name, _, _ := strings.Cut(o.Name(), ":")
	return name
}

// ofSources returns the outages and the restarts.
func (in *Input) ofSources() (all []Trouble) {
	type outage struct {
		Trouble
		run int64
	}
	var down []outage
	up := func(over func(*outage) bool, to time.Time) {
		down = slices.DeleteFunc(down, func(o outage) bool {
			if !over(&o) {
				return false
			}
			o.To = to
			if end := in.runEnd(o.run); to.IsZero() || to.After(end) { // nobody saw how it continued
				o.To, o.Unseen = end, end.Before(in.Span.To)
			}
			if !o.Unseen && o.To.Equal(in.Span.To) {
				o.To = time.Time{}
			}
			all = append(all, o.Trouble)
			return true
		})
	}
	for i := range in.Events {
		e := &in.Events[i]
		if !e.At.Before(in.Span.To) {
			break
		}
		of := func(o *outage) bool {
			return o.Source == e.Ref.Source && (o.Scope == e.Scope || o.Scope == "" || e.Scope == "")
		}
		switch e.Kind {
		case sources.EventSourceDown:
			up(func(o *outage) bool { return o.Source == e.Ref.Source && o.run != e.Run }, time.Time{})
			if !slices.ContainsFunc(down, func(o outage) bool { return of(&o) }) {
				down = append(down, outage{Trouble{Kind: Outage, From: in.earliest(e), Source: e.Ref.Source, Scope: e.Scope, Detail: e.Detail}, e.Run})
			}
		case sources.EventSourceUp:
			up(of, e.At)
		case sources.EventRestarted:
			all = append(all, Trouble{Kind: Restarted, From: e.At, To: e.At, Source: e.Ref.Source, Scope: e.Scope, Detail: e.Detail})
		}
	}
	up(func(*outage) bool { return true }, time.Time{})
	return slices.DeleteFunc(all, func(t Trouble) bool {
		over := !t.To.IsZero()
		return over && t.To.Before(in.Span.From) || over && t.Kind == Outage && t.To.Sub(t.From) < in.Thresholds.LossGap
	})
}

// runEnd returns the end of a run within the span, or the end of the span.
func (in *Input) runEnd(id int64) time.Time {
	for _, run := range in.Runs {
		if run.ID == id && !run.Live {
			return sources.Earlier(in.Span.To, run.To)
		}
	}
	return in.Span.To
}

// seenUntil returns the time until which the queues are known that a run recorded.
func (in *Input) seenUntil(run int64) time.Time {
	if in.UpTo.IsZero() {
		return in.runEnd(run)
	}
	return sources.Earlier(in.runEnd(run), in.UpTo)
}

// earliest returns the earliest time at which an event can have happened, while its run recorded.
func (in *Input) earliest(e *history.Event) time.Time {
	if e.After.IsZero() {
		return e.At
	}
	for i := range in.Runs {
		if in.Runs[i].ID == e.Run {
			return sources.Later(e.After, in.Runs[i].From)
		}
	}
	return e.After
}

// endless returns the leases that no longer expire.
func (in *Input) endless() (all []Trouble) {
	for i := range in.Events {
		e := &in.Events[i]
		if e.Kind != sources.EventLeaseChanged || !strings.HasPrefix(e.Detail, sources.EndRemoved) || e.At.Before(in.Span.From) || !e.At.Before(in.Span.To) {
			continue
		}
		t := Trouble{Kind: Endless, From: e.At, Source: e.Ref.Source, Refs: []sources.Ref{e.Ref}, Who: e.Owner, Detail: e.Detail}
		for j := range in.Lanes {
			for _, term := range in.Lanes[j].Terms {
				if in.Lanes[j].Ref == e.Ref && term.Owner.ID == e.Owner.ID && term.End.How != sources.Unknown && !term.End.At.Before(e.At) && t.To.IsZero() {
					t.To = term.End.At
				}
			}
		}
		for j := i + 1; j < len(in.Events); j++ {
			if o := &in.Events[j]; o.Ref == e.Ref && o.Kind == sources.EventLeaseChanged && (t.To.IsZero() || o.At.Before(t.To)) {
				t.To = o.At
			}
		}
		all = append(all, t)
	}
	return all
}
