package diagnose

import (
	"cmp"
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/sources/verdict"
)

// Input is what Find explains.
type Input struct {
	Judge *verdict.Judge // with the State and its names
	Rows  []*sources.Row // those with a problem, in any order; others among them are left out
	Now   time.Time
	Began time.Time // of watching: a source that never answered is silent since then. Zero: it needs a person at once

	// Name returns the name of a primitive for people; nil: SOURCE/SPACE/NAME.
	Name func(sources.Ref) string
	// Owned counts the rows of a source that somebody of this name (origin.Origin.Name) owns alone. Nil: Find counts
	// them itself, which takes as long as there are rows.
	Owned func(source, name string) int
	// Past returns the terms of a row that only a recording knows, those of the last hour, the oldest first.
	// Nil: nothing was recorded, or read.
	Past func(sources.Ref) []sources.Term
	// Known counts the rows of a source that a recording has, and says when its server answered last. Nil: nothing
	// was recorded, or the State has them.
	Known func(source string) (rows int, alive time.Time)
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

// Find explains the problems of rows and sources, the gravest first.
func Find(in *Input) []Finding {
	f := &finder{in: in, origins: map[any]origin.Origin{}}
	for _, row := range in.Rows {
		f.add(row)
	}
	for _, pattern := range []func(*finder){
		(*finder).silentServers,
		(*finder).twoOwners,
		(*finder).restarts,
		(*finder).lostTogether,
		(*finder).rings,
		(*finder).slowServers,
		(*finder).oneByOne,
		(*finder).oddServers,
	} {
		pattern(f)
	}
	for i := range f.found {
		f.finish(&f.found[i])
	}
	slices.SortStableFunc(f.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(b.leaderless(), a.leaderless()),
			cmp.Compare(len(b.Rows), len(a.Rows)), a.Since.At.Compare(b.Since.At), cmp.Compare(a.Title, b.Title))
	})
	return f.found
}

// finder is one call of Find.
type finder struct {
	in    *Input
	cases []*problemRow
	found []Finding
	owned map[[2]string]int // see Input.Owned; nil: not counted yet
	graph map[string][]wait // see waits

	origins map[any]origin.Origin // of a label, or of a *sources.Owner: an expression costs much, and labels repeat
}

// problemRow is a row that no pattern has explained yet, unless taken.
type problemRow struct {
	row     *sources.Row
	verdict verdict.Verdict
	problem verdict.Problem // the gravest
	last    *sources.Term   // that has ended, of a row without an owner; nil: none is known
	taken   bool
}

// add judges a row.
func (f *finder) add(row *sources.Row) {
	v, _ := f.in.Judge.Weigh(row, f.in.Now)
	if !v.Problem() {
		return
	}
	c := &problemRow{row: row, verdict: v}
	if list := f.in.Judge.Problems(row, f.in.Now); len(list) > 0 {
		c.problem = list[0]
		for _, p := range list {
			if p.Fault == v.Lead {
				c.problem = p
			}
		}
	}
	if n := len(row.Terms); n > 0 && row.Terms[n-1].End.How != sources.Unknown {
		c.last = &row.Terms[n-1]
	} else if past := f.past(row.Ref); n == 0 && len(past) > 0 && past[len(past)-1].End.How != sources.Unknown {
		c.last = &past[len(past)-1]
	}
	f.cases = append(f.cases, c)
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

// vacant reports whether the problem is that nobody owns the row.
func (c *problemRow) vacant() bool { return c.problem.Fault == verdict.NoLeader }

// explain adds a Finding of rows.
func (f *finder) explain(one Finding, rows ...*problemRow) {
	one.Severity = verdict.Well
	for _, c := range rows {
		c.taken = true
		one.Rows = append(one.Rows, Row{Row: c.row, Problem: c.problem, Short: f.short(c)})
		one.Severity = min(one.Severity, c.problem.Severity)
		if s := c.problem.Since; s.How != sources.Unknown && (one.Since.How == sources.Unknown || s.At.Before(one.Since.At)) {
			one.Since = s
		}
	}
	slices.SortStableFunc(one.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), a.Ref.Compare(b.Ref))
	})
	if len(rows) > 0 {
		one.Source = rows[0].row.Source
	}
	for _, c := range rows {
		if c.row.Source != one.Source {
			one.Source = ""
		}
	}
	f.found = append(f.found, one)
}

// finish adds what all findings have.
func (f *finder) finish(one *Finding) {
	one.Runbook = f.in.Runbooks[one.Pattern]
}

// leaderless counts the elections without a leader.
func (f *Finding) leaderless() (n int) {
	for i := range f.Rows {
		if f.Rows[i].Fault == verdict.NoLeader {
			n++
		}
	}
	return n
}
