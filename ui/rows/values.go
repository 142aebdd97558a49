package rows

import (
	"maps"
	"slices"
	"strings"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/filter"
	"coordtop/ui/paint"
)

// Completion offers at most so many values of a field, from at most so many rows.
const offered, offeredRows = 200, 20_000

// Values lists the existing values of a field or label, sorted, for completion.
func (x *Index) Values(field string) []string {
	found, at := valueSet{}, language.Find(field)
	for _, e := range x.entries[:min(len(x.entries), offeredRows)] {
		switch {
		case e.row == nil:
		case at >= 0 && fields[at].values != nil:
			fields[at].values(e.row, &e.v, found.add)
		case at < 0:
			for _, l := range e.row.Labels {
				if strings.EqualFold(l.Key, field) {
					found.add(l.Value)
				}
			}
		}
	}
	return found.sorted()
}

// valueSet holds values to offer, fit for drawing.
type valueSet map[string]bool

func (s valueSet) add(value string) {
	if value != "" && len(s) < offered {
		s[paint.Clean(value)] = true
	}
}

func (s valueSet) sorted() []string { return slices.Sorted(maps.Keys(s)) }

// Labels lists the labels that rows have.
func (x *Index) Labels() []string { return labelsOf(x.st) }

// labelsOf lists the labels that rows of a State have; nil has none.
func labelsOf(st *sources.State) (list []string) {
	if st == nil {
		return nil
	}
	for _, row := range st.Rows[:min(len(st.Rows), offeredRows)] {
		if row == nil {
			continue
		}
		for _, l := range row.Labels {
			if !slices.Contains(list, l.Key) {
				list = append(list, l.Key)
			}
		}
	}
	return list
}

// Meant suggests the comparison that was probably meant by a filter that selects nothing; "": none.
func (x *Index) Meant() string {
	meant := language.Meant(x.Filter.Text, x.Labels())
	if meant == "" {
		return ""
	}
	return "did you mean " + paint.Clean(meant) + "?"
}

// Complete completes a filter of rows.
func (x *Index) Complete(text string) filter.Completion {
	ofRows := languageOf(fields, func(f *fieldEntry) bool { return f.text != nil || f.number != nil })
	return ofRows.Complete(text, x.Labels(), x.Values)
}

// CompleteAudit completes a filter of the audit.
func CompleteAudit(text string, entries []action.AuditEntry) filter.Completion {
	ofAudit := languageOf(fields, func(f *fieldEntry) bool { return f.audit != nil })
	return ofAudit.Complete(text, nil, func(field string) []string {
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
