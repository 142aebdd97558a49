package rows

import (
	"coordtop/sources"
	"coordtop/sources/verdict"
)

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
