package objective

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// Verdict is the state of an objective.
type Verdict uint8

// The verdicts, the gravest first.
const (
	Missed   Verdict = iota // nobody owned it for longer than the budget
	NotKnown                // that is possible, because too much was not observed
	Within                  // nobody can have
)

// String returns "missed", "not known" or "within".
func (v Verdict) String() string { return [...]string{"missed", "not known", "within"}[v] }

// Hour is the time over which Burn is computed.
const Hour = time.Hour

// Result tells how well one primitive keeps one objective. An objective that fits nothing has one with a zero Ref.
type Result struct {
	Objective *Objective
	Ref       sources.Ref
	Kind      sources.Kind
	All, Last Vacancy // in the whole time of the objective, and in its last hour

	OtherKind bool // the names of others fit, but they are not of the objective's Kind
}

// Fits reports whether the objective fits a primitive.
func (r *Result) Fits() bool { return r.Ref != sources.Ref{} }

// Unfit says, for people, that the objective fits nothing. clean makes its pattern printable.
func (r *Result) Unfit(clean func(string) string) string {
	text := "no " + r.Kind.String() + " fits " + clean(string(r.Objective.Pattern))
	if r.OtherKind {
		text += ", only another kind"
	}
	return text
}

// Vacancy has the time in a span in which nobody owned a primitive.
type Vacancy struct {
	Vacant sources.Interval // Max includes the time of which nothing is known
	Unseen time.Duration    // not observed, or not recorded. The same owner may be proved for a part of it
}

// vacancyOf returns the Vacancy of a span of some length.
func vacancyOf(s lane.Sum, length time.Duration) Vacancy {
	vacant := s.Vacant()
	vacant.Max = min(vacant.Max, length)
	return Vacancy{vacant, s.Unseen}
}

// Verdict returns whether the objective is kept.
func (r *Result) Verdict() Verdict {
	switch budget := r.Objective.Budget(); {
	case !r.Fits():
		return NotKnown
	case r.All.Vacant.Min > budget:
		return Missed
	case r.All.Vacant.Max > budget:
		return NotKnown
	}
	return Within
}

// Share is a number between two bounds.
type Share struct{ Min, Max float64 }

// Text returns the bounds with a unit, a percentage for "%": "12 %", "1.2x - 3x", "≥ 1.2x" if the upper bound says
// little, or "?" if neither bound says anything.
func (s Share) Text(unit string) string {
	low, high := s.text(s.Min, unit), s.text(s.Max, unit)
	switch {
	case low == high:
		return low
	case s.Max > tooLarge && s.Min == 0:
		return "?"
	case s.Max > tooLarge:
		return "≥ " + low
	}
	return low + " - " + high
}

// tooLarge is the number above which an upper bound is left out in texts.
const tooLarge = 100

func (s Share) text(f float64, unit string) string {
	if unit == "%" {
		f, unit = 100*f, " %"
	}
	digits := 0
	switch {
	case f == 0:
	case f < 0.1:
		digits = 2
	case f < 10:
		digits = 1
	}
	return strconv.FormatFloat(f, 'f', digits, 64) + unit
}

// Used returns the part of the budget that is used up: above 1 the objective is missed.
func (r *Result) Used() Share { return share(r.All.Vacant, r.Objective.Budget()) }

// Burn returns how fast the budget was used in the last hour: at 1 it would last just as long as the objective.
func (r *Result) Burn() Share { return share(r.Last.Vacant, r.Objective.allowed(Hour)) }

func share(i sources.Interval, of time.Duration) Share {
	return Share{float64(i.Min) / float64(of), float64(i.Max) / float64(of)}
}

// Totals are the sums of a recording that objectives need, by the length of the span.
type Totals map[time.Duration]map[sources.Ref]history.Total

// read reads the sums of the spans that end at now.
func read(ctx context.Context, r history.Reader, list []Objective, now time.Time) (Totals, error) {
	all := Totals{}
	for _, o := range append([]Objective{{Over: Hour}}, list...) {
		if all[o.Over] != nil {
			continue
		}
		totals, err := r.Totals(ctx, history.Span{From: now.Add(-o.Over), To: now})
		if err != nil {
			return nil, err
		}
		all[o.Over] = make(map[sources.Ref]history.Total, len(totals))
		for _, t := range totals {
			all[o.Over][t.Ref] = t
		}
	}
	return all, nil
}

// Input has all data from which results are computed.
type Input struct {
	Objectives []Objective
	Now        time.Time
	Totals     Totals         // of the recording; nil: there is none
	State      *sources.State // what memory knows is newer; nil: only the recording is used
}

// Judge reads the Totals of in from a recording, and evaluates in. If nothing is recorded, r is nil, or it cannot be
// read, only memory is used. pace is the pause before the next evaluation.
func Judge(ctx context.Context, r history.Reader, in Input) (results []Result, pace time.Duration, err error) {
	began := time.Now()
	if r != nil {
		if in.Totals, err = read(ctx, r, in.Objectives, in.Now); errors.Is(err, fs.ErrNotExist) || errors.Is(err, history.ErrNothing) {
			err = nil
		}
	}
	results = Evaluate(&in)
	return results, max(leastPace, rest*time.Since(began)), err
}

// Everything that is recorded of the time is summed up, so a large recording is judged less often.
const (
	leastPace = 30 * time.Second
	rest      = 50 // times as long as it took
)

// Evaluate returns a Result for each objective and each primitive that it is for, the worst first.
func Evaluate(in *Input) (results []Result) {
	rows := map[sources.Ref]*sources.Row{}
	kinds := map[sources.Ref]sources.Kind{}
	for _, totals := range in.Totals {
		for ref, t := range totals {
			kinds[ref] = t.Kind
		}
	}
	if in.State != nil {
		for _, row := range in.State.Rows {
			if row != nil {
				rows[row.Ref], kinds[row.Ref] = row, row.Kind
			}
		}
	}
	for i := range in.Objectives {
		o, found, others := &in.Objectives[i], len(results), false
		for ref, kind := range kinds {
			switch row := rows[ref]; {
			case !o.Names(ref):
			case kind != o.Kind:
				others = true
			default:
				results = append(results, Result{Objective: o, Ref: ref, Kind: kind, All: in.vacancy(ref, row, o.Over), Last: in.vacancy(ref, row, Hour)})
			}
		}
		if len(results) == found {
			results = append(results, Result{Objective: o, Kind: o.Kind, OtherKind: others})
		}
	}
	slices.SortFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Verdict(), b.Verdict()), cmp.Compare(b.Used().Min, a.Used().Min), a.Ref.Compare(b.Ref),
			cmp.Compare(a.Objective.Text, b.Objective.Text))
	})
	return results
}

// Counts returns the number of results with each Verdict.
func Counts(results []Result) (counts [Within + 1]int) {
	for i := range results {
		counts[results[i].Verdict()]++
	}
	return counts
}

// vacancy returns the Vacancy of a primitive, with its row if there is one.
func (in *Input) vacancy(ref sources.Ref, row *sources.Row, over time.Duration) Vacancy {
	if row == nil {
		t, ok := in.Totals[over][ref]
		if !ok { // of this span nothing is recorded
			return Vacancy{sources.Interval{Max: over}, over}
		}
		return vacancyOf(t.Sum, over)
	}
	q := history.Query{State: in.State, Row: row, Reads: in.Totals != nil, Totals: in.Totals[over]}
	sum, _ := q.Sum(history.Span{From: in.Now.Add(-over), To: in.Now}, in.Now)
	return vacancyOf(sum, over)
}
