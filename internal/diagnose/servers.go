package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// silentServers finds the sources that do not answer. The problems that their rows had are counted, because
// nobody knows whether they last.
func (f *finder) silentServers() {
	var unseen []*sources.SourceStatus
	for i := range f.in.Judge.State.Sources {
		s := &f.in.Judge.State.Sources[i]
		switch {
		case !f.silent(s):
		case errors.Is(s.Err, sources.ErrUnseen):
			unseen = append(unseen, s)
		default:
			f.outage(Finding{Pattern: ServerSilent, Source: s.Name, Title: f.source(s.Name) + " does not answer",
				Steps: []Step{{"check the server and the network to it", AtSources, command("doctor", s.Name)}}}, s)
		}
	}
	if len(unseen) > 0 {
		f.outage(Finding{Pattern: RecorderSilent, Title: "all that is shown is old", Steps: []Step{
			{"start coordtop record if it does not run", AtSources, command("record", "--status")},
			{"ask the servers meanwhile, with --from servers", "", ""}}}, unseen...)
	}
}

// outage adds a finding about silent sources, which have one cause.
func (f *finder) outage(one Finding, silent ...*sources.SourceStatus) {
	since, stale := sources.Stamp{At: f.in.Began, How: sources.AtLeast}, 0
	for _, s := range silent {
		n, alive := f.lastKnown(s)
		if stale += n; !alive.IsZero() && (since.How == sources.AtLeast || alive.Before(since.At)) {
			since = sources.Stamp{At: alive, How: sources.Seen}
		}
		for _, c := range f.open() {
			if c.row.Source == s.Name && c.verdict.Status == sources.StatusStale {
				c.taken = true
				one.Hidden++
			}
		}
	}
	if !since.At.IsZero() { // else it is grave at once
		one.Since, one.Severity = since, verdict.Silence(f.in.Now.Sub(since.At), &f.in.Judge.State.Thresholds)
	}
	one.Reasons = []Reason{{outageText(silent[0]), Told}}
	if stale > 0 {
		one.Effect = format.Count(stale) + have(stale, " row is", " rows are") + " as of the last answer; nobody knows who owns " + have(stale, "it", "them") + " now"
		if one.Hidden > 0 {
			one.Effect += "; " + format.Count(one.Hidden) + " of them had a problem then"
		}
	}
	f.found = append(f.found, one)
}

// silent reports whether a source does not answer: one that has only just been asked may answer yet.
func (f *finder) silent(s *sources.SourceStatus) bool {
	waited := !f.in.Began.IsZero() && f.in.Now.Sub(f.in.Began) < graceful
	return s.Health == sources.HealthStale || s.Health == sources.HealthConnecting && (s.Err != nil || !waited)
}

// graceful is the time for which a source that has never answered is not called silent.
const graceful = 3 * time.Second

// lastKnown counts the rows of a source that are known as of its last answer, and returns that; zero: it never answered.
func (f *finder) lastKnown(s *sources.SourceStatus) (rows int, at time.Time) {
	st := f.in.Judge.State
	for i := range st.Scopes {
		if c := &st.Scopes[i]; c.Source == s.Name && c.Health != sources.HealthLive && (at.IsZero() || c.Alive.Before(at)) {
			at = c.Alive
		}
	}
	if k := f.in.Known; k != nil && at.IsZero() {
		st = &sources.State{Rows: k.Rows} // without a scope, so that none of them is fresh
		for i := range k.Scopes {
			if c := &k.Scopes[i]; c.Source == s.Name {
				at = sources.Later(at, sources.Earlier(c.Alive, k.At.Wall))
			}
		}
	}
	for _, row := range st.Rows {
		if row != nil && row.Source == s.Name && !row.Fresh(st) {
			rows++
		}
	}
	return rows, at
}

func outageText(s *sources.SourceStatus) string {
	if s.Err == nil || errors.Is(s.Err, sources.ErrSilent) {
		return "its server has stopped answering"
	}
	return format.Clean(s.Err.Error(), maxError)
}

// twoOwners joins the rows of one name that are owned twice.
func (f *finder) twoOwners() {
	for _, rows := range f.grouped(verdict.TwoOwners, func(c *problemRow) string {
		if agree := f.status(c.row.Source).Agree; agree != 0 {
			return fmt.Sprint(agree, " ", c.row.Name)
		}
		return c.row.FullName()
	}) {
		one := Finding{Pattern: TwoOwners, Title: f.name(rows[0].row.Ref) + " has two owners"}
		for _, c := range rows {
			var names []string
			for i := range c.row.Owners[:min(len(c.row.Owners), 3)] {
				names = append(names, f.where(&c.row.Owners[i]))
			}
			one.Reasons = append(one.Reasons, Reason{format.Series(names, " and ") + have(len(names), " owns it in ", " own it in ") + label(c.row.FullName()), Told})
		}
		if stray := wrongServer(rows); len(stray) > 0 {
			one.Reasons = append(append(one.Reasons, stray...), possible("a program lists other servers, or in another order")...)
		} else if len(rows) > 1 {
			one.Reasons = append(one.Reasons, possible("two servers that do not know of each other have the same lock", "programs are configured with different servers")...)
		} else {
			one.Reasons = append(one.Reasons, Reason{"its server let a second one in", Told})
		}
		one.Effect = "both may do the work that only one should do"
		one.Steps = []Step{{"stop one of the owners, the one that should not own it", AtOwner, ""},
			{"release one by force if it cannot be stopped", AtActions, f.release(rows[0].row, leader(rows[0].row))}}
		f.explain(one, rows...)
	}
}

// wrongServer names the rows that stand on a server on which their programs should not look for them.
func wrongServer(rows []*problemRow) (reasons []Reason) {
	for _, c := range rows {
		for _, o := range owners(c.row) {
			if home := sources.AttrOf(o.Attrs, sources.WrongServer); home != "" {
				reasons = append(reasons, Reason{label(c.row.Space) + " is the wrong server for it: " + label(home), Told})
				break
			}
		}
	}
	return reasons
}

// restartWithin is the most time between the first and the last end that one restart causes.
const restartWithin = 10 * time.Second

// restarts joins the rows that a restart of their server freed.
func (f *finder) restarts() {
	for _, freed := range f.grouped(verdict.NoLeader, func(c *problemRow) string {
		if c.last == nil || c.last.Cause != sources.CauseRestart {
			return ""
		}
		return c.row.Source
	}) {
		for _, rows := range chained(freed, restartWithin) {
			at := rows[0].last.End.At
			about, sure := f.about(rows[0].row), Told
			if about.BecameHow == sources.Inferred {
				sure = Inferred
			}
			became := cmp.Or(format.Clean(about.Became, maxError), "the server was restarted")
			since, find := "a restart of ", "find out why the server restarted, and whether its data is on disk"
			if strings.HasPrefix(became, "another server") {
				since, find = "another server answers for ", "find out whether the other server still runs, and lets anybody own the same"
			}
			one := Finding{Pattern: ServerRestarted, Title: things(rows) + have(len(rows), " has", " have") + " had no owner since " + since + f.source(rows[0].row.Source)}
			one.Reasons = []Reason{{"what was owned there was lost at " + f.clock(at) + ": " + became, sure}}
			if len(rows) > 1 {
				one.Reasons = append(one.Reasons, Reason{"it was " + f.names(rows, 3), Told})
			}
			one.Effect = "the former owners may still work, in the belief that they own " + have(len(rows), "it", "them")
			one.Steps = []Step{{"look why their programs do not take " + have(len(rows), "it", "them") + " again", AtRow, command("history", rows[0].row.Ref.FullName())},
				{find, AtSources, ""}}
			f.explain(one, rows...)
		}
	}
}

// oddServers finds what a source says of its server that a person should look at, though no row shows it yet.
func (f *finder) oddServers() {
	st := f.in.Judge.State
	for i := range st.Scopes {
		c := &st.Scopes[i]
		for _, a := range c.About.Config {
			if !a.Odd || c.Health != sources.HealthLive {
				continue
			}
			one := Finding{Severity: verdict.Warn, Source: c.Source, Reasons: []Reason{{format.Clean(a.Value, maxError), Told}}}
			server := joined(" ", f.source(c.Source), label(c.Name))
			look := Step{"look at its warnings", AtSources, command("doctor", c.Source)}
			switch a.Key {
			case sources.LockTable:
				one.Pattern, one.Title = LockTableFull, "the lock table of "+server+" is nearly full"
				one.Effect = "once it is full, no session gets another lock, of tables neither"
				one.Steps = []Step{{"find out who owns so many advisory locks", AtOwner, ""}, {"raise max_locks_per_transaction", AtSources, look.Command}}
			case sources.Strays:
				if slices.ContainsFunc(f.found, func(one Finding) bool {
					return one.Pattern == TwoOwners && slices.ContainsFunc(one.Rows, func(r Row) bool { return r.Source == c.Source })
				}) {
					continue // it says so
				}
				one.Pattern, one.Title = WrongServer, server+" has keys of another server"
				one.Reasons = append(one.Reasons, Reason{"a program lists other servers, or in another order", Inferred})
				one.Effect = "programs that look on the right server do not see who owns them: two may own one"
				one.Steps = []Step{{"compare the server lists of the programs that own them", AtOwner, ""}, look}
			default:
				continue
			}
			f.found = append(f.found, one)
		}
	}
}

// slowLeast is the number of hosts that must be late at once before their server is suspected.
const slowLeast = 3

// slowServers joins the late renewals of many hosts on one source.
func (f *finder) slowServers() {
	for _, rows := range f.grouped(verdict.Late, func(c *problemRow) string { return c.row.Source }) {
		source, hosts, first := rows[0].row.Source, map[string]bool{}, time.Duration(math.MaxInt64)
		for _, c := range rows {
			if o := leader(c.row); o != nil {
				hosts[f.labels.OfOwner(o).Host] = true
				first = min(first, max(o.Expires.At.Sub(f.in.Now), 0))
			}
		}
		if delete(hosts, ""); len(hosts) < slowLeast {
			continue
		}
		one := Finding{Pattern: ServerSlow, Title: counted(len(rows), "renewal", "renewals") + " late on " + f.source(source)}
		one.Reasons = append([]Reason{{format.Count(len(hosts)) + " hosts renew late at the same time", Told}},
			possible("the server or the network to it is slow", "the hosts are overloaded")...)
		one.Effect = "leases run out if it goes on, the first in " + format.Left(first)
		one.Steps = []Step{{"look at the answer times of the server, and its load", AtSources, command("doctor", source)}}
		f.explain(one, rows...)
	}
}

// chained splits rows into groups of which each ended at most within after the one before.
func chained(rows []*problemRow, within time.Duration) (groups [][]*problemRow) {
	slices.SortStableFunc(rows, func(a, b *problemRow) int { return a.last.End.At.Compare(b.last.End.At) })
	for i, c := range rows {
		if i == 0 || c.last.End.At.Sub(rows[i-1].last.End.At) > within {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], c)
	}
	return groups
}
