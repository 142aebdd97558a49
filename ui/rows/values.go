package rows

import (
	"maps"
	"slices"
	"strings"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/filter"
	"coordtop/ui/paint"
)

// offered is how many values of a field are looked for, among how many rows.
const offered, offeredRows = 200, 20_000

// Values lists what exists of a field or label, sorted: what a filter can be completed
// with.
func (x *Index) Values(field string) []string {
	found := valueSet{}
	for _, e := range x.entries[:min(len(x.entries), offeredRows)] {
		if r := e.row; r != nil {
			valuesOf(field, r, &e.v, found.add)
		}
	}
	return found.sorted()
}

// valueSet are values to be offered, fit for drawing.
type valueSet map[string]bool

func (s valueSet) add(value string) {
	if value != "" && len(s) < offered {
		s[paint.Clean(value)] = true
	}
}

func (s valueSet) sorted() []string { return slices.Sorted(maps.Keys(s)) }

func valuesOf(field string, r *sources.Row, v *verdict.Verdict, add func(string)) {
	if i := language.Find(field); i >= 0 {
		if fields[i].values != nil {
			fields[i].values(r, v, add)
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

// Meant asks whether a filter that selects nothing was meant to be a comparison; "": it has no colon.
func (x *Index) Meant() string {
	meant := language.Meant(x.Filter.Text, x.Labels())
	if meant == "" {
		return ""
	}
	return "did you mean " + paint.Clean(meant) + "?"
}

// Complete completes a filter of rows that is typed.
func (x *Index) Complete(text string) filter.Completion {
	return languageOf(fields, func(f *fieldEntry) bool { return f.text != nil || f.number != nil }).Complete(text, x.Labels(), x.Values)
}

// CompleteAudit completes a filter of the audit that is typed.
func CompleteAudit(text string, entries []action.AuditEntry) filter.Completion {
	return languageOf(fields, func(f *fieldEntry) bool { return f.audit != nil }).Complete(text, nil, func(field string) []string {
		found := valueSet{}
		if i := language.Find(field); i >= 0 && fields[i].audit != nil {
			for e := range entries {
				for _, value := range fields[i].audit(&entries[e]) {
					found.add(value)
				}
			}
		}
		return found.sorted()
	})
}
