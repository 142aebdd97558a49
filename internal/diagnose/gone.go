package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// The most time between two ends that have one cause. Leases of different lengths run out at different
// times after their owner's last renewal; sessions end at once.
const (
	leasesWithin   = 30 * time.Second
	sessionsWithin = 5 * time.Second
)

// lostTogether joins the rows that one host, or one session, lost or gave up at the same time.
func (f *finder) lostTogether() {
	for _, rows := range f.grouped(verdict.NoLeader, func(c *problemRow) string {
		if c.last == nil || c.last.Cause == sources.CauseEvicted || c.last.Cause == sources.CauseDeleted || history.ForcedBy(c.row.Ref, c.last, f.in.Acts) != "" {
			return ""
		}
		return fmt.Sprint(c.last.Cause, " ", f.resigned(c), " ", f.status(c.row.Source).Type, " ", f.formerHost(c))
	}) {
		within := sessionsWithin
		if rows[0].last.Cause == sources.CauseExpired {
			within = leasesWithin
		}
		for _, lost := range chained(rows, within) {
			if len(lost) > 1 {
				f.explain(f.gone(lost...), lost...)
			}
		}
	}
}

// formerHost returns the name under which a former owner's losses are joined.
func (f *finder) formerHost(c *problemRow) string { return f.labels.OfName(c.last.Owner.Name()).Name() }

// ownerWord is "leader", or "owner" where one of the rows is no election.
func ownerWord(rows []*problemRow) string {
	if slices.ContainsFunc(rows, func(c *problemRow) bool { return c.row.Kind != sources.KindElection }) {
		return "owner"
	}
	return "leader"
}

// sureOf returns how the causes of the ends are known: as the least certain one is.
func sureOf(rows []*problemRow) Sure {
	if slices.ContainsFunc(rows, func(c *problemRow) bool { return c.last.How == sources.Inferred || c.last.How == sources.Unknown }) {
		return Inferred
	}
	return Told
}

// whyGone names what fits an owner that is gone without a release. None is preferred.
func (f *finder) whyGone(c *problemRow) []Reason {
	reasons := possible("it was killed", "it is paused", "it is cut off from the server")
	redis := f.status(c.row.Source).Type == "redis"
	switch c.last.Cause {
	case sources.CauseSession:
		reasons = possible("it was killed or restarted", "its connection was cut")
		if c.last.How != sources.Told {
			reasons = append(reasons, possible("it released it and closed its connection")...)
		}
	case sources.CauseReleased:
		reasons = possible("it gave it up", "its connection ended: it was killed, stopped or cut off")
		if redis {
			reasons = possible("it gave it up", "somebody deleted the key")
		}
	case sources.CauseUnknown:
		reasons = possible("it gave it up", "its session ended: it was killed, stopped or cut off")
		if redis {
			reasons = possible("it gave it up", "its lease ran out", "somebody deleted the key")
		}
		reasons = append(reasons, f.evicts(c.row)...)
	}
	return append(reasons, f.warned(c.row, "pooler in transaction", "its session belongs to a pooler in transaction mode, which closes it or gives it to others")...)
}

// resigned reports whether an owner gave up what it had. If a lease ends early, Redis and dflockd do not report
// whether its owner ended it.
func (f *finder) resigned(c *problemRow) bool {
	kind := f.status(c.row.Source).Type
	return c.last.Cause == sources.CauseReleased && (c.last.How != sources.Inferred || kind != "redis" && kind != "dflockd")
}

// whoElse names the others that led, or tried to, in the last hour.
func (f *finder) whoElse(rows []*problemRow) string {
	others, waiting, known, led := map[string]bool{}, 0, true, false
	for _, c := range rows {
		last := ""
		if c.last != nil {
			last, led = c.last.Owner.Name(), true
		}
		for _, t := range slices.Concat(f.past(c.row.Ref), c.row.Terms) {
			if name := t.Owner.Name(); name != last && !t.End.At.Before(f.in.Now.Add(-Lookback)) {
				others[label(name)] = true
			}
		}
		for i := range c.row.Candidates {
			others[label(c.row.Candidates[i].Label)] = true
		}
		waiting += c.row.Queue.Len
		known = known && c.row.Queue.How != sources.Unknown && c.row.Queue.CandidatesHow != sources.Unknown
	}
	names := slices.Sorted(maps.Keys(others))
	switch {
	case waiting > 0:
		return format.Count(waiting) + have(waiting, " candidate waits", " candidates wait") + " and may take over"
	case len(names) > 0:
		return "others seen " + f.lookedFor(rows) + ": " + format.Some(names, 3) + "; none of them has taken over"
	case known:
		return "nobody campaigns for " + have(len(rows), "it", "any of them")
	case led:
		return "nobody else was seen " + f.lookedFor(rows)
	}
	return "nobody was seen " + f.lookedFor(rows)
}

// lookedFor says for how long it is known who owned the rows: the last hour, or less.
func (f *finder) lookedFor(rows []*problemRow) string {
	from := f.in.Now.Add(-Lookback)
	for _, c := range rows {
		if len(f.past(c.row.Ref)) == 0 {
			from = sources.Later(from, c.row.RecordedSince(f.in.Judge.State))
		}
	}
	if !from.After(f.in.Now.Add(-Lookback)) {
		return "in the last hour"
	}
	return "since " + f.clock(from)
}

// gone explains rows that nobody owns, by the end of their last ownership. Several have one former owner, and ended
// together.
func (f *finder) gone(rows ...*problemRow) Finding {
	c, n := rows[0], len(rows)
	one := Finding{Pattern: LeaderGone, Title: f.name(c.row.Ref) + " has no leader", Effect: f.whoElse(rows)}
	election := ownerWord(rows) == "leader"
	if n > 1 {
		one.Title = things(rows) + " have no " + ownerWord(rows)
	} else if !election {
		one.Title = f.name(c.row.Ref) + " should be owned, and is free"
	}
	look := Step{"see who led, and start one", AtTimeline, command("history", c.row.Ref.FullName())}
	if c.last == nil {
		return f.neverOwned(c, one, look)
	}
	who, host, at, sure := label(c.last.Owner.Name()), label(f.formerHost(c)), f.clock(c.last.End.At), sureOf(rows)
	one.Who = []string{host}
	one.Steps = []Step{{"look at " + host + ": its process, load, network", AtOwner, ""}, look}
	fact, together, why := who+" owned it until "+at, "", f.whyGone(c)
	if n > 1 {
		fact, together = "all were owned by "+host+" until "+at, spread(rows)
	}
	switch by := history.ForcedBy(c.row.Ref, c.last, f.in.Acts); {
	case by != "":
		fact, sure = who+" was ended by force by "+label(by)+" at "+at, Told
		one.Pattern, one.Steps, why = EndedByForce, []Step{look}, nil
	case c.last.Cause == sources.CauseEvicted:
		fact = who + " was ended by force at " + at
		one.Pattern, one.Steps, why = EndedByForce, []Step{{"see who did it, and why", AtEvents, ""}, look}, nil
	case c.last.Cause == sources.CauseDeleted:
		fact = "it was deleted at " + at + " while " + who + " owned it"
		one.Pattern, one.Steps, why = Deleted, []Step{{"find out who deleted it", AtEvents, look.Command}, look}, f.evicts(c.row)
	case f.resigned(c):
		fact = have(n, who+" gave it up at "+at, fact+"; it gave them up "+together)
		one.Pattern, one.Steps, why = LeaderResigned, []Step{look}, nil
	case c.last.Cause == sources.CauseExpired:
		one.Pattern = OwnerTogether
		fact += have(n, ": its lease ran out", "; their leases ran out "+together)
	case c.last.Cause == sources.CauseSession:
		one.Pattern = OwnerTogether
		fact += have(n, ": its session ended", "; their sessions ended "+together)
	case c.last.Cause == sources.CauseReleased:
		sure = Told
		fact += have(n, "; its lease was not over", "; their leases were not over, and all ended "+together)
	default:
		sure = Told
		fact += have(n, "", "; all ended "+together)
	}
	one.Reasons = append([]Reason{{fact, sure}}, why...)
	if !election && one.Pattern == LeaderGone {
		one.Pattern = LockGone
	}
	return one
}

// spread says within how long the rows ended.
func spread(rows []*problemRow) string {
	first := rows[0].last.End.At
	for _, c := range rows {
		first = sources.Earlier(first, c.last.End.Earliest())
	}
	took := rows[len(rows)-1].last.End.At.Sub(first)
	if took < 100*time.Millisecond {
		return "at once"
	}
	return "within " + format.Precise(took)
}

// neverOwned explains a row that nobody owns and nobody was seen to own.
func (f *finder) neverOwned(c *problemRow, one Finding, look Step) Finding {
	one.Pattern = NeverLed
	text := "nobody was seen to own it"
	if since := c.problem.Since; since.How == sources.AtLeast {
		text += ": it was so when coordtop first looked, at " + f.clock(since.At)
	}
	if c.row.Absent {
		text = "it does not exist on the server"
	}
	one.Reasons = []Reason{{text, Told}}
	if c.row.MaybeMisspelt() != "" {
		one.Reasons = append(one.Reasons, possible("its name is misspelt in the config", "its programs do not run")...)
	}
	one.Steps = []Step{look}
	return one
}

// evicts returns the reason that a server which drops keys when its memory is full may have dropped the
// row's key.
func (f *finder) evicts(row *sources.Row) []Reason {
	return f.warned(row, "maxmemory-policy", "the server dropped the key because its memory is full")
}

// warned returns a possible reason where the source of a row warns of something.
func (f *finder) warned(row *sources.Row, of, text string) []Reason {
	for _, w := range f.about(row).Warnings {
		if strings.Contains(w, of) {
			return possible(text)
		}
	}
	return nil
}
