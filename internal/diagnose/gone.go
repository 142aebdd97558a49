package diagnose

import (
	"fmt"
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
	byOwner := map[string][]*problemRow{}
	for _, c := range f.open(verdict.NoLeader) {
		if c.last == nil || f.forcedBy(c) != "" {
			continue
		}
		switch c.last.Cause {
		case sources.CauseExpired, sources.CauseSession, sources.CauseReleased, sources.CauseUnknown:
		default:
			continue
		}
		key := fmt.Sprint(c.last.Cause, " ", f.resigned(c), " ", f.formerHost(c))
		byOwner[key] = append(byOwner[key], c)
	}
	for _, key := range sortedKeys(byOwner) {
		within := sessionsWithin
		if strings.HasPrefix(key, sources.CauseExpired.String()) {
			within = leasesWithin
		}
		for _, rows := range chained(byOwner[key], within) {
			if len(rows) > 1 {
				f.explain(f.goneTogether(rows), rows...)
			}
		}
	}
}

// unwished reports whether an owner did not release what it had, as far as is known.
func unwished(t *sources.Term) bool {
	return t.Cause == sources.CauseExpired || t.Cause == sources.CauseSession
}

// formerHost returns the name under which a former owner's losses are joined.
func (f *finder) formerHost(c *problemRow) string { return f.originNamed(c.last.Owner.Name()).Name() }

// ownerHost returns the host of the only owner of a row; "": there is not one, or it is not known.
func (f *finder) ownerHost(row *sources.Row) string {
	if len(row.Owners) != 1 {
		return ""
	}
	return f.originOf(&row.Owners[0]).Host
}

// goneTogether explains rows that were lost at the same time.
func (f *finder) goneTogether(rows []*problemRow) Finding {
	who, last := f.formerHost(rows[0]), rows[len(rows)-1].last
	one := Finding{Pattern: OwnerTogether, Who: []string{label(who)}, Title: things(rows) + " have no " + ownerWord(rows)}
	how, why := "their sessions ended ", f.whyGone(rows[0])
	switch {
	case last.Cause == sources.CauseExpired:
		how = "their leases ran out "
	case f.resigned(rows[0]):
		one.Pattern, how, why = LeaderResigned, "it gave them up ", nil
	case last.Cause == sources.CauseReleased:
		one.Pattern, how = LeaderGone, "their leases were not over, and all ended "
	case last.Cause == sources.CauseUnknown:
		one.Pattern, how = LeaderGone, "all ended "
	}
	if spread := last.End.At.Sub(rows[0].last.End.At); spread < 100*time.Millisecond {
		how += "at once"
	} else {
		how += "within " + format.Precise(spread)
	}
	one.Reasons = append([]Reason{{"all were owned by " + label(who) + " until " + f.clock(rows[0].last.End.At) + "; " + how,
		sureOf(last)}}, why...)
	if n := f.alive(who); n > 0 && one.Pattern != LeaderResigned {
		one.Reasons = append(one.Reasons, Reason{label(who) + " still owns " + format.Count(n) + have(n, " other", " others") + ", so not all of it is gone", Told})
	}
	one.Effect = f.whoElse(rows)
	one.Steps = []Step{{"look at " + label(who) + ": its process, load, network", AtOwner, ""},
		{"see who led, and start one", AtTimeline, command("history", rows[0].row.Ref)}}
	return one
}

// ownerWord is "leader", or "owner" where one of the rows is no election.
func ownerWord(rows []*problemRow) string {
	for _, c := range rows {
		if c.row.Kind != sources.KindElection {
			return "owner"
		}
	}
	return "leader"
}

func sureOf(t *sources.Term) Sure {
	if t.How == sources.Inferred || t.How == sources.Unknown {
		return Inferred
	}
	return Told
}

// whyGone names what fits an owner that is gone without a release. None is preferred.
func (f *finder) whyGone(c *problemRow) []Reason {
	possible := []string{"it was killed", "it is paused", "it is cut off from the server"}
	redis := f.typeOf(c.row.Source) == "redis"
	switch {
	case c.last.Cause == sources.CauseSession && c.last.How == sources.Told:
		possible = []string{"it was killed or restarted", "its connection was cut"}
	case c.last.Cause == sources.CauseSession:
		possible = []string{"it was killed or restarted", "its connection was cut", "it released it and closed its connection"}
	case c.last.Cause == sources.CauseReleased && redis:
		possible = []string{"it gave it up", "somebody deleted the key"}
	case c.last.Cause == sources.CauseReleased:
		possible = []string{"it gave it up", "its connection ended: it was killed, stopped or cut off"}
	case c.last.Cause == sources.CauseUnknown && redis:
		possible = []string{"it gave it up", "its lease ran out", "somebody deleted the key"}
	case c.last.Cause == sources.CauseUnknown:
		possible = []string{"it gave it up", "its session ended: it was killed, stopped or cut off"}
	}
	var reasons []Reason
	for _, text := range possible {
		reasons = append(reasons, Reason{text, Possible})
	}
	if c.last.Cause == sources.CauseUnknown {
		reasons = append(reasons, f.evicts(c.row)...)
	}
	return append(reasons, f.pooled(c.row)...)
}

// resigned reports whether an owner gave up what it had. Of a lease that ended early Redis and dflockd do not tell
// whether its owner ended it.
func (f *finder) resigned(c *problemRow) bool {
	kind := f.typeOf(c.row.Source)
	return c.last.Cause == sources.CauseReleased && (c.last.How != sources.Inferred || kind != "redis" && kind != "dflockd")
}

// alive counts the rows that somebody of this name still owns, as far as the sources answer.
func (f *finder) alive(name string) (n int) {
	count := f.in.Owned
	if count == nil {
		count = f.countOwned
	}
	for i := range f.in.Judge.State.Sources {
		if s := &f.in.Judge.State.Sources[i]; s.Health == sources.HealthLive {
			n += count(s.Name, name)
		}
	}
	return n
}

// countOwned is Input.Owned.
func (f *finder) countOwned(source, name string) int {
	if f.owned == nil {
		f.owned = map[[2]string]int{}
		for _, row := range f.in.Judge.State.Rows {
			if row != nil && len(row.Owners) == 1 {
				f.owned[[2]string{row.Source, f.originOf(&row.Owners[0]).Name()}]++
			}
		}
	}
	return f.owned[[2]string{source, name}]
}

// whoElse says who else was seen to lead, or to try, in the last hour.
func (f *finder) whoElse(rows []*problemRow) string {
	others, waiting, known := map[string]bool{}, 0, true
	for _, c := range rows {
		for _, name := range f.formerLeaders(c) {
			others[name] = true
		}
		for i := range c.row.Candidates {
			others[label(c.row.Candidates[i].Label)] = true
		}
		waiting += c.row.Queue.Len
		known = known && c.row.Queue.How != sources.Unknown && c.row.Queue.CandidatesHow != sources.Unknown
	}
	names := sortedKeys(others)
	switch {
	case waiting > 0:
		return format.Count(waiting) + have(waiting, " candidate waits", " candidates wait") + " and may take over"
	case len(names) > 0:
		return "others seen in the last hour: " + format.Some(names, 3) + "; none of them has taken over"
	case known:
		return "nobody campaigns for " + have(len(rows), "it", "any of them")
	}
	if slices.ContainsFunc(rows, func(c *problemRow) bool { return c.last != nil }) {
		return "nobody else was seen in the last hour"
	}
	return "nobody was seen in the last hour"
}

// formerLeaders names who else owned a row in the last hour, without the last owner.
func (f *finder) formerLeaders(c *problemRow) (names []string) {
	last := ""
	if c.last != nil {
		last = c.last.Owner.Name()
	}
	for _, list := range [][]sources.Term{f.past(c.row.Ref), c.row.Terms} {
		for i := range list {
			t := &list[i]
			name := t.Owner.Name()
			if name == last || t.End.At.Before(f.in.Now.Add(-Lookback)) || slices.Contains(names, label(name)) {
				continue
			}
			names = append(names, label(name))
		}
	}
	return names
}

// forcedBy names who ended the last ownership of a row by force; "": nobody is known to have.
func (f *finder) forcedBy(c *problemRow) string {
	if c.last == nil {
		return ""
	}
	return history.ForcedBy(c.row.Ref, c.last, f.in.Acts)
}

// vacancy explains one row that nobody owns, by the end of its last ownership.
func (f *finder) vacancy(c *problemRow) Finding {
	title := f.name(c.row.Ref) + " has no leader"
	if c.row.Kind != sources.KindElection {
		title = f.name(c.row.Ref) + " should be owned, and is free"
	}
	one := Finding{Pattern: LeaderGone, Title: title, Effect: f.whoElse([]*problemRow{c})}
	look := Step{"see who led, and start one", AtTimeline, command("history", c.row.Ref)}
	if c.last == nil {
		return f.neverOwned(c, one, look)
	}
	who, at := label(c.last.Owner.Name()), f.clock(c.last.End.At)
	host := label(f.formerHost(c))
	if host != who {
		one.Who = []string{host}
	} else {
		one.Who = []string{who}
	}
	sure := sureOf(c.last)
	switch by := f.forcedBy(c); {
	case by != "":
		one.Pattern = EndedByForce
		one.Reasons = []Reason{{who + " was ended by force by " + label(by) + " at " + at, Told}}
		one.Steps = []Step{look}
	case c.last.Cause == sources.CauseEvicted:
		one.Pattern = EndedByForce
		one.Reasons = []Reason{{who + " was ended by force at " + at, sure}}
		one.Steps = []Step{{"see who did it, and why", AtEvents, ""}, look}
	case f.resigned(c):
		one.Pattern = LeaderResigned
		one.Reasons = []Reason{{who + " gave it up at " + at, sure}}
		one.Steps = []Step{look}
	case c.last.Cause == sources.CauseDeleted:
		one.Pattern = Deleted
		one.Reasons = append([]Reason{{"it was deleted at " + at + " while " + who + " owned it", sure}}, f.evicts(c.row)...)
		one.Steps = []Step{{"find out who deleted it", AtEvents, command("history", c.row.Ref)}, look}
	case unwished(c.last):
		one.Pattern = OwnerTogether
		how := "its session ended"
		if c.last.Cause == sources.CauseExpired {
			how = "its lease ran out"
		}
		one.Reasons = append([]Reason{{who + " owned it until " + at + ": " + how, sure}}, f.whyGone(c)...)
		if n := f.alive(f.formerHost(c)); n > 0 {
			one.Reasons = append(one.Reasons, Reason{host + " still owns " + format.Count(n) + have(n, " other", " others") + ", so not all of it is gone", Told})
		}
		one.Steps = []Step{{"look at " + host + ": its process, load, network", AtOwner, ""}, look}
	default:
		text := who + " owned it until " + at
		if c.last.Cause == sources.CauseReleased {
			text += "; its lease was not over"
		}
		one.Reasons = append([]Reason{{text, Told}}, f.whyGone(c)...)
		one.Steps = []Step{{"look at " + host, AtOwner, ""}, look}
	}
	if c.row.Kind != sources.KindElection && one.Pattern == LeaderGone {
		one.Pattern = LockGone
	}
	return one
}

// neverOwned explains a row that nobody owns and nobody was seen to own.
func (f *finder) neverOwned(c *problemRow, one Finding, look Step) Finding {
	one.Pattern = NeverLed
	text := "nobody was seen to own it"
	if since := c.problem.Since; since.How != sources.Unknown {
		text += ": it was so when coordtop first looked, at " + f.clock(since.At)
	}
	if c.row.Absent {
		text = "it does not exist on the server"
	}
	one.Reasons = []Reason{{text, Told}}
	if ask := c.row.MaybeMisspelt(); ask != "" {
		one.Reasons = append(one.Reasons, Reason{"its name is misspelt in the config", Possible}, Reason{"its programs do not run", Possible})
	}
	one.Steps = []Step{look}
	return one
}

// evicts returns the reason that a server which drops keys when its memory is full may have dropped this
// one, too.
func (f *finder) evicts(row *sources.Row) []Reason {
	return f.warned(row, "maxmemory-policy", "the server dropped the key because its memory is full")
}

// pooled returns the reason that a pooler which lends its sessions may have ended a session, or given it to others.
func (f *finder) pooled(row *sources.Row) []Reason {
	return f.warned(row, "pooler in transaction", "its session belongs to a pooler in transaction mode, which closes it or gives it to others")
}

// warned returns a possible reason where the source of a row warns of something.
func (f *finder) warned(row *sources.Row, of, text string) []Reason {
	for _, w := range f.about(row).Warnings {
		if strings.Contains(w, of) {
			return []Reason{{text, Possible}}
		}
	}
	return nil
}
