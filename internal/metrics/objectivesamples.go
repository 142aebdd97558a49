package metrics

import (
	"coordtop/internal/ground/format"
	"coordtop/internal/objective"
	"coordtop/sources"
)

// perObjective is the number of series of a primitive and an objective.
const perObjective = 5

// objectiveSamples appends the samples of the objectives: of each how many primitives keep it, and numbers of the rows
// whose names are shown, also while these are stale, because what is not known is a number of its own. It returns how
// many series with names these are, and how many are left out.
func (c *Collector) objectiveSamples(list []sample, types map[string]string) (_ []sample, shown, dropped int) {
	var results []objective.Result
	if c.o.Objectives != nil {
		results = c.o.Objectives()
	}
	if len(results) == 0 {
		return list, 0, 0
	}
	named, seen := map[sources.Ref]bool{}, map[[4]string]bool{}
	for row := range c.index.Rows {
		named[row.Ref] = true
	}
	kept := map[string]*[objective.Within + 1]int{}
	for i := range results {
		r := &results[i]
		text := r.Objective.Text
		if kept[text] == nil {
			kept[text] = new([objective.Within + 1]int)
		}
		kept[text][r.Verdict()]++
		labels := []string{format.Clean(r.Ref.Source, 0), types[r.Ref.Source], r.Kind.String(), format.Clean(r.Ref.Space, longestName), format.Clean(r.Ref.Name, longestName)}
		key := [4]string{r.Ref.Source, labels[3], labels[4], text}
		if !r.Fits() || !named[r.Ref] || seen[key] { // two patterns may have the same text
			continue
		}
		if seen[key] = true; shown+perObjective > c.o.Series {
			dropped += perObjective
			continue
		}
		shown += perObjective
		vacant, burn := r.All.Vacant, r.Burn()
		for f, value := range map[family]float64{
			objectiveVacant: vacant.Min.Seconds(), objectiveUnknown: (vacant.Max - vacant.Min).Seconds(), objectiveBudget: r.Objective.Budget().Seconds(),
			objectiveBurn: burn.Min, objectiveBurnUnknown: burn.Max - burn.Min,
		} {
			list = append(list, sample{f, value, labels, []string{text}})
		}
	}
	for text, counts := range kept {
		for v, n := range counts {
			list = append(list, sample{family: objectives, value: float64(n), more: []string{text, objective.Verdict(v).String()}})
		}
	}
	return list, shown, dropped
}
