package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/sources/verdict"
)

// Input holds the rows that Find explains, and the facts about them.
type Input struct {
	Judge *verdict.Judge // with the State and its names
	Rows  []*sources.Row // those with a problem, in any order; others among them are left out
	Now   time.Time
	Began time.Time // of watching: a source that never answered is silent since then. Zero: it needs a person at once

	// Name returns the name of a primitive for people; nil: SOURCE/SPACE/NAME.
	Name func(sources.Ref) string
	// URL returns the URL with which a command line names a row. Nil, or "": its full name does.
	URL func(*sources.Row) string
	// Past returns the terms of a row that only a recording knows, those of the last hour, the oldest first.
	// Nil: nothing was recorded, or read.
	Past func(sources.Ref) []sources.Term
	// Known has the rows of sources that never answered. Nil: nothing was recorded, or the State has them.
	Known *sources.Keyframe
	// Acts are the events of what people did: they name who ended something by force.
	Acts []sources.Event
	// Runbooks are the URLs of the config.
	Runbooks map[Pattern]string
}

// Lookback is the time before now in which former leaders are named.
const Lookback = time.Hour

// ProblemRows returns the rows of a State that have a problem at now.
func ProblemRows(j *verdict.Judge, now time.Time) (list []*sources.Row) {
	for _, row := range j.State.Rows {
		if row == nil {
			continue
		}
		if v, _ := j.Weigh(row, now); v.Problem() {
			list = append(list, row)
		}
	}
	return list
}

// Find explains the problems of rows and sources, the gravest first. Its answer does not depend on the order of Rows.
func Find(in *Input) []Finding {
	f := &finder{in: in, labels: origin.Labels{}, graph: map[string][]wait{}}
	f.begin(in.Rows)
	f.silentServers()
	f.twoOwners()
	f.restarts()
	f.lostTogether()
	f.rings()
	f.slowServers()
	f.oneByOne()
	f.oddServers()
	for i := range f.found {
		f.found[i].Runbook = in.Runbooks[f.found[i].Pattern]
	}
	slices.SortStableFunc(f.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(b.leaderless(), a.leaderless()),
			cmp.Compare(len(b.Rows), len(a.Rows)), a.Since.At.Compare(b.Since.At), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Source, b.Source))
	})
	return f.found
}

// mostExplained bounds the rows that are explained. Of more than that nobody reads the causes one by one, and to explain
// them once a second would take all memory.
const mostExplained = 2000

// begin takes the rows that have a problem, the gravest and of these the oldest slots, and counts those that are too many
// in one Finding for each kind of problem of a source.
func (f *finder) begin(rows []*sources.Row) {
	cases := make([]*problemRow, 0, len(rows))
	for _, row := range rows {
		v, _ := f.in.Judge.Weigh(row, f.in.Now)
		if v.Problem() && (v.Status != sources.StatusStale || f.silent(f.status(row.Source))) { // else it is being read anew: what it was is no finding
			cases = append(cases, &problemRow{row: row, verdict: v})
		}
	}
	slices.SortFunc(cases, func(a, b *problemRow) int {
		return cmp.Or(cmp.Compare(a.verdict.Known, b.verdict.Known), cmp.Compare(a.row.Slot, b.row.Slot), a.row.Ref.Compare(b.row.Ref))
	})
	f.cases = cases[:min(len(cases), mostExplained)]
	for _, c := range f.cases {
		c.problem, c.last = f.in.Judge.Problems(c.row, f.in.Now)[0], c.row.LastTerm()
		if len(c.row.Terms) == 0 {
			c.last = (&sources.Row{Terms: f.past(c.row.Ref)}).LastTerm()
		}
	}
	type kind struct {
		source string
		fault  verdict.Fault
	}
	others := map[kind][]*problemRow{}
	for _, c := range cases[len(f.cases):] {
		if k := (kind{c.row.Source, c.verdict.Lead}); c.verdict.Status != sources.StatusStale {
			others[k] = append(others[k], c)
		}
	}
	for k, list := range others {
		f.found = append(f.found, Finding{
			Pattern: TooMany, Severity: list[0].verdict.Known, Source: k.source, Hidden: len(list),
			Title:   format.Count(len(list)) + " more " + k.fault.Chip() + " on " + f.source(k.source),
			Reasons: []Reason{{"there are too many problems to explain each", Told}},
			Steps:   []Step{{"look at them in the list", AtRow, command("get", k.source, "--problems")}},
		})
	}
}

// finder is one call of Find.
type finder struct {
	in     *Input
	cases  []*problemRow
	found  []Finding
	graph  map[string][]wait // see waits
	labels origin.Labels
}

// problemRow is a row that no pattern has explained yet, unless taken.
type problemRow struct {
	row     *sources.Row
	verdict verdict.Verdict
	problem verdict.Problem // the gravest
	last    *sources.Term   // that has ended, of a row without an owner; nil: none is known
	taken   bool
}

func (f *finder) past(ref sources.Ref) []sources.Term {
	if f.in.Past == nil {
		return nil
	}
	return f.in.Past(ref)
}

// open yields the rows that are not explained yet, and whose gravest problem is one of faults; none: any.
func (f *finder) open(faults ...verdict.Fault) (list []*problemRow) {
	for _, c := range f.cases {
		if !c.taken && (len(faults) == 0 || slices.Contains(faults, c.problem.Fault)) {
			list = append(list, c)
		}
	}
	return list
}

// grouped joins the rows with a fault that are not explained yet by a key; those whose key is "" are left out.
func (f *finder) grouped(fault verdict.Fault, key func(*problemRow) string) (groups [][]*problemRow) {
	byKey := map[string][]*problemRow{}
	for _, c := range f.open(fault) {
		if k := key(c); k != "" {
			byKey[k] = append(byKey[k], c)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		groups = append(groups, byKey[k])
	}
	return groups
}

// explain adds a Finding of rows.
func (f *finder) explain(one Finding, rows ...*problemRow) {
	one.Severity = verdict.Well
	for i, c := range rows {
		c.taken = true
		if i == 0 {
			one.Source = c.row.Source
		} else if c.row.Source != one.Source {
			one.Source = ""
		}
		one.Rows = append(one.Rows, Row{Row: c.row, Problem: c.problem, Short: f.short(c)})
		one.Severity = min(one.Severity, c.problem.Severity)
		if s := c.problem.Since; s.How != sources.Unknown && (one.Since.How == sources.Unknown || s.At.Before(one.Since.At)) {
			one.Since = s
		}
	}
	slices.SortStableFunc(one.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), a.Ref.Compare(b.Ref))
	})
	f.found = append(f.found, one)
}

// leaderless counts the elections without a leader: all its rows, or none.
func (f *Finding) leaderless() int {
	if len(f.Rows) > 0 && f.Rows[0].Fault == verdict.NoLeader {
		return len(f.Rows)
	}
	return 0
}
