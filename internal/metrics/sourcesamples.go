package metrics

import (
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// sourceFacts has the numbers of one source from which its samples are made.
type sourceFacts struct {
	labels   []string
	asked    bool      // it has answered, or did not within its time
	alive    time.Time // of the scope that has been silent for longest; zero: none answered
	live     bool      // all scopes are
	whole    bool      // its sums are known
	kinds    map[sources.Kind]int
	severity [verdict.Warn + 1]int
	faults   map[[2]string]int
}

// sourceSamples appends the samples of the sources.
func (c *Collector) sourceSamples(list []sample, st *sources.State, now time.Time) []sample {
	facts := map[string]*sourceFacts{}
	for i := range st.Sources {
		s := &st.Sources[i]
		facts[s.Name] = &sourceFacts{
			labels: []string{format.Clean(s.Name, 0), s.Type}, live: s.Health == sources.HealthLive, whole: true,
			asked: s.Health != sources.HealthConnecting || s.Err != nil, kinds: map[sources.Kind]int{}, faults: map[[2]string]int{},
		}
	}
	for i := range st.Scopes {
		scope := &st.Scopes[i]
		if f := facts[scope.Source]; f != nil {
			f.whole = f.whole && scope.Whole()
			if f.alive.IsZero() || scope.Alive.Before(f.alive) {
				f.alive = scope.Alive
			}
		}
	}
	for _, row := range st.Rows {
		if row != nil && facts[row.Source] != nil {
			facts[row.Source].kinds[row.Kind]++
		}
	}
	judge := c.index.Judge()
	for _, row := range c.index.ProblemRowList() {
		f := facts[row.Source]
		if v, _ := judge.Weigh(row, now); f != nil && v.Problem() {
			f.severity[v.Known]++
			f.faults[[2]string{v.Lead.String(), v.Known.String()}]++
		}
	}
	for i := range st.Sources {
		list = facts[st.Sources[i].Name].samples(list, now, c.bySrc[st.Sources[i].Name])
	}
	return append(list, sample{family: standby, value: 0})
}

func (f *sourceFacts) samples(list []sample, now time.Time, t *tally) []sample {
	add := func(m family, v float64, more ...string) { list = append(list, sample{m, v, f.labels, more}) }
	if f.asked {
		add(sourceUp, truth(f.live))
	}
	if !f.alive.IsZero() {
		add(watchLag, max(now.Sub(f.alive), 0).Seconds())
	}
	if !f.live || f.alive.IsZero() {
		return list
	}
	if t == nil {
		t = &tally{}
	}
	add(sourceChanges, t.changes)
	add(sourceLosses, t.losses)
	if !f.whole {
		return list
	}
	for kind, n := range f.kinds {
		add(primitives, float64(n), kind.String())
	}
	for sev, n := range f.severity {
		add(problemRows, float64(n), verdict.Severity(sev).String())
	}
	for k, n := range f.faults {
		add(problems, float64(n), k[0], k[1])
	}
	return list
}
