package rows

import (
	"slices"
	"strings"

	"coordtop/sources"
	"coordtop/ui/filter"
	"coordtop/ui/paint"
)

// offered is how many values of a field are looked for, among how many rows.
const offered, offeredRows = 200, 20_000

// Values lists what exists of a field or label, sorted: what a filter can be completed
// with.
func (x *Index) Values(field string) []string {
	seen := map[string]bool{}
	add := func(s string) {
		if s != "" && len(seen) < offered {
			seen[paint.Clean(s)] = true
		}
	}
	for _, e := range x.entries[:min(len(x.entries), offeredRows)] {
		if r := e.row; r != nil {
			valuesOf(field, r, &e.v, add)
		}
	}
	list := make([]string, 0, len(seen))
	for s := range seen {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

func valuesOf(field string, r *sources.Row, v *Verdict, add func(string)) {
	if f, ok := filter.FieldOf(field); ok {
		if values := fieldTable[f].values; values != nil {
			values(r, v, add)
		}
		return
	}
	for _, l := range r.Labels {
		if strings.EqualFold(l.Key, field) {
			add(l.Value)
		}
	}
}

// Labels lists the labels that rows have.
func (x *Index) Labels() []string {
	var list []string
	for _, e := range x.entries[:min(len(x.entries), offeredRows)] {
		if e.row == nil {
			continue
		}
		for _, l := range e.row.Labels {
			if !slices.Contains(list, l.Key) {
				list = append(list, l.Key)
			}
		}
	}
	return list
}

// Meant asks whether a filter that selects nothing was meant otherwise; "": nothing else is
// likely.
func (x *Index) Meant() string {
	meant := filter.Meant(x.Filter.Text, x.Labels(), func(field string) []string { return append(x.Values(field), always(field)...) })
	if meant == "" {
		return ""
	}
	return "did you mean " + paint.Clean(meant) + "?"
}

// always are the values of a field that make sense whether or not a row has them now.
func always(field string) []string {
	var list []string
	switch field {
	case "kind":
		for _, k := range []sources.Kind{sources.KindElection, sources.KindMutex, sources.KindSemaphore} {
			list = append(list, k.String())
		}
	case "state":
		for s := sources.StatusNotObserved; s <= sources.StatusAbsent; s++ {
			list = append(list, stateWord(s))
		}
		list = append(list, "flapping")
	}
	return list
}
