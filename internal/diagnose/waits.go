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
		if f.originNamed(name).Host != "" {
			return name
		}
	}
	return source + "\x00" + cmp.Or(session, id)
}

func (f *finder) ownerParty(source string, o *sources.Owner) string {
	return f.party(source, o.Session, o.ID, o.Label, o.Attrs)
}

func (f *finder) waiterParty(source string, w *sources.Waiter) string {
	return f.party(source, w.Session, w.ID, w.Label, w.Attrs)
}

// excludes reports whether a waiter waits for an owner. No session waits for what it owns itself, in another mode.
func excludes(o *sources.Owner, w *sources.Waiter) bool {
	return (o.Mode != sources.Shared || w.Mode != sources.Shared) && (o.Session == "" || o.Session != w.Session)
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

// waits returns who waits for whom in rows with a long wait that nothing has explained.
func (f *finder) waits() map[string][]wait {
	graph := map[string][]wait{}
	for _, c := range f.open(verdict.LongWait, verdict.Full, verdict.NoTTL) {
		row := c.row
		for i := range row.Queue.Waiters[:min(len(row.Queue.Waiters), mostWaiters)] {
			w := &row.Queue.Waiters[i]
			for j := range row.Owners[:min(len(row.Owners), mostWaiters)] {
				o := &row.Owners[j]
				if row.Limited() && row.Limit > 1 || !excludes(o, w) {
					continue // another owner's release is enough, or they share it
				}
				e := wait{f.waiterParty(row.Source, w), f.ownerParty(row.Source, o), c, w, o}
				graph[e.from] = append(graph[e.from], e)
			}
		}
	}
	return graph
}

// rings finds sessions that wait for each other, and those that wait for themselves.
func (f *finder) rings() {
	f.graph = f.waits()
	graph := maps.Clone(f.graph)
	for _, from := range sortedKeys(graph) {
		for _, e := range graph[from] {
			if e.from == e.to && !e.c.taken {
				f.explain(f.ownWait(e), e.c)
			}
		}
	}
	inRings(graph)
	for _, from := range sortedKeys(graph) {
		if ring := ringFrom(graph, from); len(ring) > 0 && !slices.ContainsFunc(ring, func(e wait) bool { return e.c.taken }) {
			f.ring(ring)
		}
	}
}

// inRings drops those who wait for nobody who waits, until all that are left wait in rings, or for a ring.
func inRings(graph map[string][]wait) {
	awaits := map[string][]string{} // by party: who waits for it
	left := map[string]int{}        // by party: for how many it waits
	var done []string
	for from, list := range graph {
		left[from] = len(list)
		for _, e := range list {
			if awaits[e.to] = append(awaits[e.to], from); graph[e.to] == nil {
				done = append(done, e.to)
			}
		}
	}
	for ; len(done) > 0; done = done[1:] {
		for _, from := range awaits[done[0]] {
			if left[from]--; left[from] == 0 {
				delete(graph, from)
				done = append(done, from)
			}
		}
		delete(awaits, done[0])
	}
}

// ringFrom returns the shortest ring of waits that leads back to where it began; nil: there is none.
func ringFrom(graph map[string][]wait, start string) []wait {
	came := map[string]wait{} // by party: the wait that led to it
	for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
		for _, e := range graph[queue[0]] {
			if e.c.taken || e.from == e.to {
				continue
			}
			if e.to == start {
				ring := []wait{e}
				for at := e.from; at != start; at = came[at].from {
					ring = append(ring, came[at])
				}
				slices.Reverse(ring)
				return ring
			}
			if _, seen := came[e.to]; !seen {
				came[e.to] = e
				queue = append(queue, e.to)
			}
		}
	}
	return nil
}

func (f *finder) ring(ring []wait) {
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
	one.Steps = []Step{{"end one of them: it is enough to break the ring", AtActions, command("release", ring[0].c.row.Ref)}}
	f.explain(one, rows...)
}

// ownWait explains a session, or a process, that waits for what it owns itself.
func (f *finder) ownWait(e wait) Finding {
	who, row := label(e.waiter.Label), e.c.row
	one := Finding{Pattern: OwnUpgrade, Title: who + " waits for " + f.name(row.Ref) + ", which it owns itself", Who: []string{who}}
	text := f.where(e.owner) + " owns it" + modeWord(e.owner.Mode) + " in another session, and waits for it" + modeWord(e.waiter.Mode) + " in this one"
	one.Reasons = []Reason{{text, Told}}
	one.Effect = joined("; ", "it waits for itself, and does not go on", f.waiting(row))
	one.Steps = []Step{{"end the session that owns it, or restart " + who, AtActions, command("release", row.Ref)}}
	return one
}

func modeWord(m sources.Mode) string {
	if m == sources.Shared {
		return ", shared,"
	}
	return ""
}

// longWait explains a row for which somebody waits.
func (f *finder) longWait(c *problemRow) Finding {
	row := c.row
	one := Finding{Pattern: LongWait, Title: f.name(row.Ref) + " is waited for", Effect: f.waiting(row)}
	if row.Limited() && row.Limit > 1 {
		return f.permits(c, one)
	}
	if text := blocksOthers(row); text != "" {
		one.Pattern, one.Title = WaitsForHead, "the queue of "+f.name(row.Ref)+" stands still"
		one.Reasons = []Reason{{text, Told}}
	}
	if len(row.Owners) == 0 {
		one.Reasons = append(one.Reasons, Reason{"its owner is not known", Told})
		one.Steps = []Step{{"look at it", AtRow, command("get", row.Ref)}}
		return one
	}
	o := blocker(row)
	one.Who = []string{label(f.originOf(o).Name())}
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
		one.Steps = []Step{{"look at " + f.name(next[0].c.row.Ref) + " first", AtRow, command("why", next[0].c.row.Ref)}}
	default:
		one.Reasons = append(one.Reasons, Reason{joined(" ", f.where(o), "owns it"+owned), Told})
	}
	if next := row.NextText(func(id, session string) bool { return id == o.ID }, func(w *sources.Waiter) string { return label(w.Label) }); next != "" {
		one.Effect = joined("; ", one.Effect, "if it is released: "+next)
	}
	one.Effect = joined("; ", one.Effect, vacuum(row))
	one.Steps = append(one.Steps, f.freeing(c, o)...)
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
	for i := range row.Owners[:min(len(row.Owners), mostWaiters)] {
		o, score := &row.Owners[i], 0
		if !slices.ContainsFunc(row.Queue.Waiters, func(w sources.Waiter) bool { return o.Session != "" && w.Session == o.Session }) {
			score = 1 + int(o.Idle)
		}
		if score > least {
			best, least = o, score
		}
	}
	return best
}

// freeing returns the steps that lead to a release of what an owner has.
func (f *finder) freeing(c *problemRow, o *sources.Owner) []Step {
	ask := Step{"ask who runs " + f.where(o), AtOwner, ""}
	end := Step{"release it by force if its owner is stuck", AtActions, command("release", c.row.Ref)}
	if also := sources.AttrOf(o.Attrs, "also owns"); also != "" {
		end.Text += "; that ends its session, which also owns " + label(also)
	}
	return []Step{ask, end}
}

// ownedFor says for how long an owner has owned; "": it is not known.
func (f *finder) ownedFor(o *sources.Owner) string {
	switch held := f.in.Now.Sub(o.Since.At); {
	case o.Since.How == sources.Unknown, held < time.Second:
		return ""
	}
	switch o.Since.How {
	case sources.AtLeast, sources.Bound:
		return " for at least " + format.Age(f.in.Now.Sub(o.Since.At))
	}
	return " for " + format.Age(f.in.Now.Sub(o.Since.At))
}

// stateSince says since when the session of an owner is as it is; "": its server does not tell.
func (f *finder) stateSince(o *sources.Owner) string {
	if at, err := time.Parse(time.RFC3339Nano, sources.AttrOf(o.Attrs, "state change")); err == nil {
		return " since " + f.clock(at)
	}
	return ""
}

// blocksOthers says why the head of a queue keeps those behind it from what is free; "": it does not.
func blocksOthers(row *sources.Row) string {
	q := row.Queue.Waiters
	if row.Queue.How == sources.Unknown || len(q) < 2 {
		return ""
	}
	if row.Limited() && row.Limit > 1 {
		free := row.Limit - min(row.Taken, row.Limit)
		first := max(q[0].Permits, 1)
		if free == 0 || first <= free {
			return ""
		}
		could := 0
		for i := range q[1:] {
			if max(q[1+i].Permits, 1) <= free {
				could++
			}
		}
		if could == 0 {
			return ""
		}
		return label(q[0].Label) + ", first in the queue, needs " + format.Count(int(first)) + " permits, and " + format.Count(int(free)) + have(int(free), " is", " are") + " free; " +
			format.Count(could) + " behind it could go"
	}
	shared := func(o sources.Owner) bool { return o.Mode == sources.Shared }
	if len(row.Owners) == 0 || slices.ContainsFunc(row.Owners, func(o sources.Owner) bool { return !shared(o) }) || q[0].Mode == sources.Shared {
		return ""
	}
	could := 0
	for i := range q[1:] {
		if q[1+i].Mode == sources.Shared {
			could++
		}
	}
	if could == 0 {
		return ""
	}
	return label(q[0].Label) + ", first in the queue, wants it exclusively, while " + format.Count(len(row.Owners)) + have(len(row.Owners), " owner shares it; ", " owners share it; ") + format.Count(could) + " behind it could share it too"
}

// permits explains a semaphore for which somebody waits.
func (f *finder) permits(c *problemRow, one Finding) Finding {
	row := c.row
	one.Pattern = PermitsTaken
	one.Title = f.name(row.Ref) + ": " + format.Count(int(row.Taken)) + " of " + format.Count(int(row.Limit)) + " permits taken"
	if text := blocksOthers(row); text != "" {
		one.Pattern, one.Title = WaitsForHead, "the queue of "+f.name(row.Ref)+" stands still"
		one.Reasons = []Reason{{text, Told}}
	} else if row.Taken >= row.Limit {
		one.Reasons = []Reason{{"all permits are taken", Told}}
	} else {
		one.Reasons = []Reason{{format.Count(int(row.Limit-row.Taken)) + " permits are free, too few for the first in the queue", Told}}
	}
	most, longest := f.biggest(row)
	if most == nil {
		one.Steps = []Step{{"raise the limit, or ask who has them", AtRow, command("get", row.Ref)}}
		return one
	}
	one.Who = []string{label(f.originOf(most).Name())}
	text := f.where(most) + " has most, " + format.Count(int(max(most.Permits, 1)))
	if longest == most {
		text += f.ownedFor(most) + ", the longest of all"
	} else if longest != nil {
		text += "; " + f.where(longest) + " has owned longest," + f.ownedFor(longest)
	}
	one.Reasons = append(one.Reasons, Reason{text, Told})
	one.Steps = []Step{{"ask who runs " + f.where(most), AtOwner, ""},
		{"release one owner by force if it is stuck", AtActions, command("release", row.Ref)}}
	return one
}

// biggest returns the owner with most permits, and the one that has owned longest; nil: not known.
func (f *finder) biggest(row *sources.Row) (most, longest *sources.Owner) {
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
