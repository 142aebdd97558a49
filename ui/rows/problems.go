package rows

import (
	"time"

	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/sources/verdict"
)

// place is a host on a source.
type place struct{ source, host string }

// settle notes where the owner of a row runs, and that no problem of the row is known yet.
func (x *Index) settle(slot int32, e, old *entry) {
	if x.problems == nil {
		x.problems, x.owned = map[int32]bool{}, map[place]int{}
	}
	delete(x.problems, slot)
	was, is := soleOwner(old.row), soleOwner(e.row)
	if was != nil && is != nil && was.Label == is.Label && len(was.Attrs) == len(is.Attrs) && old.row.Source == e.row.Source {
		e.host = old.host
		return
	}
	if old.host != "" {
		x.owned[place{old.row.Source, old.host}]--
	}
	if is != nil {
		if e.host = origin.OfOwner(is).Name(); e.host != "" {
			x.owned[place{e.row.Source, e.host}]++
		}
	}
}

// soleOwner returns the only owner of a row; nil: there is none, or there are several.
func soleOwner(row *sources.Row) *sources.Owner {
	if row == nil || len(row.Owners) != 1 {
		return nil
	}
	return &row.Owners[0]
}

// OwnedBy counts the rows of a source that somebody under this name, see origin.Origin.Name, owns alone.
func (x *Index) OwnedBy(source, name string) int { return x.owned[place{source, name}] }

// ProblemRowList returns the rows with a problem, in no order.
func (x *Index) ProblemRowList() []*sources.Row {
	list := make([]*sources.Row, 0, len(x.problems))
	for slot := range x.problems {
		list = append(list, x.entries[slot].row)
	}
	return list
}

// Judge returns a judge of the rows at the time of the last Update. It is for reading.
func (x *Index) Judge() *verdict.Judge {
	j := x.judge
	return &j
}

// ProblemRows returns the number of rows with a problem that is not muted.
func (x *Index) ProblemRows() int { return x.BySeverity[verdict.Bad] + x.BySeverity[verdict.Warn] }

// ProblemsOf lists the problems of a row at now.
func (x *Index) ProblemsOf(row *sources.Row, now time.Time) []verdict.Problem {
	j := x.judge
	return j.Problems(row, now)
}
