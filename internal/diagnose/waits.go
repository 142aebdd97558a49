package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// party identifies who owns or waits: a process on all sources, where its label or the name of its application
// is the name of one, as host:pid; else a session of one source.
func (f *finder) party(source, session, id, text string, attrs []sources.Attr) string {
	for _, name := range []string{text, sources.AttrOf(attrs, "application")} {
		if f.labels.OfName(name).Host != "" {
			return name
		}
	}
	return source + "\x00" + cmp.Or(session, id)
}

func (f *finder) ownerParty(source string, o *sources.Owner) string {
	return f.party(source, o.Session, o.ID, o.Label, o.Attrs)
}

// wait is somebody who waits for somebody.
type wait struct {
	from, to string // parties
	c        *problemRow
	waiter   *sources.Waiter
	owner    *sources.Owner
}

// mostWaiters bounds the waiters of a row, and the owners of a row, that are compared.
const mostWaiters = 100

// waits finds who waits for whom in rows with a long wait that nothing has explained.
func (f *finder) waits() {
	for _, c := range f.open(verdict.LongWait, verdict.Full, verdict.NoTTL) {
		row := c.row
		if row.Limited() && row.Limit > 1 {
			continue // any owner's release is enough
		}
		for i := range row.Queue.Waiters[:min(len(row.Queue.Waiters), mostWaiters)] {
			w := &row.Queue.Waiters[i]
			from := f.party(row.Source, w.Session, w.ID, w.Label, w.Attrs)
			for _, o := range owners(row) {
				if o.Excludes(w) {
					f.graph[from] = append(f.graph[from], wait{from, f.ownerParty(row.Source, o), c, w, o})
				}
			}
		}
	}
}

// rings finds sessions that wait for each other, and those that wait for themselves.
func (f *finder) rings() {
	f.waits()
	var path []wait // from the party where the search began
	seen := map[string]bool{}
	var follow func(from string)
	follow = func(from string) {
		seen[from] = true
		for _, e := range f.graph[from] {
			path = append(path, e)
			if !seen[e.to] {
				follow(e.to)
			} else if begin := slices.IndexFunc(path, func(before wait) bool { return before.from == e.to }); begin >= 0 {
				f.ring(path[begin:])
			}
			path = path[:len(path)-1]
		}
	}
	for _, from := range slices.Sorted(maps.Keys(f.graph)) {
		if !seen[from] {
			follow(from)
		}
	}
}

// ring explains the rows of a ring of waits, the last of which leads back to the first, unless one is explained.
func (f *finder) ring(ring []wait) {
	switch {
	case slices.ContainsFunc(ring, func(e wait) bool { return e.c.taken }):
		return
	case len(ring) == 1:
		f.explain(f.ownWait(ring[0]), ring[0].c)
		return
	}
	var rows []*problemRow
	one := Finding{Pattern: Ring}
	for _, e := range ring {
		if !slices.Contains(rows, e.c) {
			rows = append(rows, e.c)
		}
		one.Reasons = append(one.Reasons, Reason{label(e.waiter.Label) + " waits for " + f.name(e.c.row.Ref) + ", which " + f.where(e.owner) + " owns", Told})
	}
	one.Title = format.Count(len(ring)) + " wait for each other in a ring: " + f.names(rows, 3)
	one.Effect = "none of them goes on by itself"
	for _, c := range rows {
		if text := f.waiting(c.row); text != "" && c.row.Queue.Len > 1 {
			one.Effect += "; for " + f.name(c.row.Ref) + " " + text
		}
	}
	one.Steps = []Step{{"end one of them: it is enough to break the ring", AtActions, f.release(ring[0].c.row, ring[0].owner)}}
	f.explain(one, rows...)
}

// ownWait explains a session, or a process, that waits for what it owns itself.
func (f *finder) ownWait(e wait) Finding {
	who, row := label(e.waiter.Label), e.c.row
	one := Finding{Pattern: OwnUpgrade, Title: who + " waits for " + f.name(row.Ref) + ", which it owns itself", Who: []string{who}}
	text := f.where(e.owner) + " owns it" + modeWord(e.owner.Mode) + " in another session, and waits for it" + modeWord(e.waiter.Mode) + " in this one"
	one.Reasons = []Reason{{text, Told}}
	one.Effect = joined("; ", "it waits for itself, and does not go on", f.waiting(row))
	one.Steps = []Step{{"end the session that owns it, or restart " + who, AtActions, f.release(row, e.owner)}}
	return one
}

func modeWord(m sources.Mode) string {
	if m == sources.Shared {
		return ", shared,"
	}
	return ""
}

// longWait explains a row for which somebody waits.
func (f *finder) longWait(row *sources.Row) Finding {
	one := Finding{Pattern: LongWait, Title: f.name(row.Ref) + " is waited for", Effect: f.waiting(row)}
	if row.Limited() && row.Limit > 1 {
		return f.permits(row, one)
	}
	f.head(row, &one)
	if len(row.Owners) == 0 {
		one.Reasons = append(one.Reasons, Reason{"its owner is not known", Told})
		one.Steps = []Step{{"look at it", AtRow, f.rowCommand("get", row)}}
		return one
	}
	o := blocker(row)
	one.Who = f.who(o)
	owned := f.ownedFor(o)
	blame := func(p Pattern, title string) {
		if one.Pattern == LongWait {
			one.Pattern, one.Title = p, title
		}
	}
	switch next := f.graph[f.ownerParty(row.Source, o)]; {
	case sources.AttrOf(o.Attrs, sources.Leaked) != "":
		blame(WaitsForIdle, f.name(row.Ref)+" was left behind in a pooled session")
		one.Reasons = append(one.Reasons, Reason{format.Clean(sources.AttrOf(o.Attrs, sources.Leaked), maxError), Inferred})
	case idle(o) != "":
		blame(WaitsForIdle, f.name(row.Ref)+" is owned by an idle session")
		one.Reasons = append(one.Reasons, Reason{joined(", and has owned it", f.where(o)+" "+idle(o)+f.stateSince(o), owned), Told})
	case len(next) > 0 && next[0].c.row != row:
		blame(WaitsForChain, f.name(row.Ref)+" waits for "+f.name(next[0].c.row.Ref))
		one.Reasons = append(one.Reasons, Reason{f.where(o) + " owns it, and itself waits for " + f.name(next[0].c.row.Ref) + ", which " + f.where(next[0].owner) + " owns", Told})
		one.Steps = []Step{{"look at " + f.name(next[0].c.row.Ref) + " first", AtRow, f.rowCommand("why", next[0].c.row)}}
	default:
		one.Reasons = append(one.Reasons, Reason{joined(" ", f.where(o), "owns it"+owned), Told})
	}
	if next := row.NextText(func(id, session string) bool { return id == o.ID }, func(w *sources.Waiter) string { return label(w.Label) }); next != "" {
		one.Effect = joined("; ", one.Effect, "if it is released: "+next)
	}
	one.Effect = joined("; ", one.Effect, vacuum(row))
	end := "release it by force if its owner is stuck"
	if also := sources.AttrOf(o.Attrs, "also owns"); also != "" {
		end += "; that ends its session, which also owns " + label(also)
	}
	one.Steps = append(one.Steps, Step{"ask who runs " + f.where(o), AtOwner, ""}, Step{end, AtActions, f.release(row, o)})
	return one
}

// vacuum counts those who keep their server from removing dead rows while they wait; "": none is known to.
func vacuum(row *sources.Row) string {
	n := 0
	for i := range row.Queue.Waiters {
		if sources.AttrOf(row.Queue.Waiters[i].Attrs, sources.Vacuum) != "" {
			n++
		}
	}
	return counted(n, "waiter holds back vacuum in its database", "waiters hold back vacuum in their databases")
}

// blocker returns the owner for which the waiters of a row wait, of several the one that does least: one that waits
// itself for this row is none, unless all are.
func blocker(row *sources.Row) *sources.Owner {
	best, least := &row.Owners[0], -1
	for _, o := range owners(row) {
		score := 0
		if !slices.ContainsFunc(row.Queue.Waiters, func(w sources.Waiter) bool { return o.Session != "" && w.Session == o.Session }) {
			score = 1 + int(o.Idle)
		}
		if score > least {
			best, least = o, score
		}
	}
	return best
}

// ownedFor says for how long an owner has owned; "": it is not known.
func (f *finder) ownedFor(o *sources.Owner) string {
	held := f.in.Now.Sub(o.Since.At)
	switch {
	case o.Since.How == sources.Unknown, held < time.Second:
		return ""
	case o.Since.How == sources.AtLeast, o.Since.How == sources.Bound:
		return " for at least " + format.Age(held)
	}
	return " for " + format.Age(held)
}

// stateSince says since when the session of an owner is as it is; "": its server does not tell.
func (f *finder) stateSince(o *sources.Owner) string {
	if at, err := time.Parse(time.RFC3339Nano, sources.AttrOf(o.Attrs, "state change")); err == nil {
		return " since " + f.clock(at)
	}
	return ""
}

// head explains a queue whose first one keeps those behind it from what is free, if it does.
func (f *finder) head(row *sources.Row, one *Finding) {
	q := row.Queue.Waiters
	if row.Queue.How == sources.Unknown || len(q) < 2 {
		return
	}
	shared := len(row.Owners) > 0 && !slices.ContainsFunc(row.Owners, func(o sources.Owner) bool { return o.Mode != sources.Shared })
	goes := func(w sources.Waiter) bool { return shared && w.Mode == sources.Shared }
	needs, could := "wants it exclusively, while "+counted(len(row.Owners), "owner shares it", "owners share it"), " behind it could share it too"
	if row.Limited() && row.Limit > 1 {
		free := row.Limit - min(row.Taken, row.Limit)
		goes = func(w sources.Waiter) bool { return max(w.Permits, 1) <= free }
		needs = "needs " + format.Count(int(q[0].Permits)) + " permits, and " + counted(int(free), "is", "are") + " free"
		could = " behind it could go"
	}
	n := len(slices.DeleteFunc(slices.Clone(q[1:]), func(w sources.Waiter) bool { return !goes(w) }))
	if n > 0 && !goes(q[0]) {
		one.Pattern, one.Title = WaitsForHead, "the queue of "+f.name(row.Ref)+" stands still"
		one.Reasons = []Reason{{label(q[0].Label) + ", first in the queue, " + needs + "; " + format.Count(n) + could, Told}}
	}
}

// permits explains a semaphore for which somebody waits.
func (f *finder) permits(row *sources.Row, one Finding) Finding {
	one.Pattern, one.Reasons = PermitsTaken, []Reason{{"all permits are taken", Told}}
	one.Title = f.name(row.Ref) + ": " + format.Count(int(row.Taken)) + " of " + format.Count(int(row.Limit)) + " permits taken"
	if row.Taken < row.Limit {
		one.Reasons = []Reason{{format.Count(int(row.Limit-row.Taken)) + " permits are free, too few for the first in the queue", Told}}
	}
	f.head(row, &one)
	most, longest := biggest(row)
	if most == nil {
		one.Steps = []Step{{"raise the limit, or ask who has them", AtRow, f.rowCommand("get", row)}}
		return one
	}
	one.Who = f.who(most)
	text := f.where(most) + " has most, " + format.Count(int(max(most.Permits, 1)))
	if longest == most {
		text += f.ownedFor(most) + ", the longest of all"
	} else if longest != nil {
		text += "; " + f.where(longest) + " has owned longest," + f.ownedFor(longest)
	}
	one.Reasons = append(one.Reasons, Reason{text, Told})
	one.Steps = []Step{{"ask who runs " + f.where(most), AtOwner, ""},
		{"release one owner by force if it is stuck", AtActions, f.release(row, most)}}
	return one
}

// biggest returns the owner with most permits, and the one that has owned longest; nil: not known.
func biggest(row *sources.Row) (most, longest *sources.Owner) {
	for i := range row.Owners {
		o := &row.Owners[i]
		if most == nil || max(o.Permits, 1) > max(most.Permits, 1) ||
			max(o.Permits, 1) == max(most.Permits, 1) && o.Since.How != sources.Unknown && o.Since.At.Before(most.Since.At) {
			most = o
		}
		if o.Since.How != sources.Unknown && (longest == nil || o.Since.At.Before(longest.Since.At)) {
			longest = o
		}
	}
	return most, longest
}
