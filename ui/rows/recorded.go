package rows

import (
	"math"

	"coordtop/sources"
	"coordtop/sources/verdict"
)

// mostRecorded bounds the rows that exist in a recording only and are kept from one list to the next.
const mostRecorded = 2000

// Recorded reports whether a handle is of a row that exists in a recording only: no State has it.
func (h Handle) Recorded() bool { return h.Slot < 0 }

// BeginRecorded must be called before each new list of rows that only the recording knows. Once more
// than mostRecorded rows were listed, it makes all earlier handles invalid.
func (x *Index) BeginRecorded() {
	if x.recordedAt == nil || len(x.recorded) >= mostRecorded {
		for _, row := range x.recorded {
			x.judge.Names.Remove(row.Name, row.Slot)
		}
		x.recorded, x.recordedAt = nil, map[sources.Ref]*sources.Row{}
	}
}

// AddRecorded adds a row to the list and returns its handle; the same one as before if it is known.
func (x *Index) AddRecorded(ref sources.Ref, kind sources.Kind) Handle {
	row := x.recordedAt[ref]
	if row == nil {
		row = &sources.Row{Primitive: &sources.Primitive{Ref: ref, Kind: kind}, Slot: -1 - len(x.recorded)}
		x.recorded, x.recordedAt[ref] = append(x.recorded, row), row
		x.judge.Names.Add(ref.Name, row.Slot)
	}
	row.Scope = scopeOf(x.st, ref)
	return HandleOf(row)
}

// RecordedRow returns a row that exists in a recording only; nil: there is none.
func (x *Index) RecordedRow(ref sources.Ref) *sources.Row { return x.recordedAt[ref] }

// scopeOf returns the scope that a row would be in; math.MaxInt if there is none, or more than one
// candidate.
func scopeOf(st *sources.State, ref sources.Ref) int {
	found, several := math.MaxInt, false
	for i := range st.Scopes {
		switch {
		case st.Scopes[i].Source != ref.Source:
		case st.Scopes[i].Name == ref.Space:
			return i
		default:
			found, several = i, found != math.MaxInt
		}
	}
	if several {
		return math.MaxInt
	}
	return found
}

// Watched reports whether the source of a row that exists in a recording only is being read. Then
// nobody owns the row, because its source would show it.
func Watched(st *sources.State, row *sources.Row) bool {
	return row.Scope < len(st.Scopes) && st.Scopes[row.Scope].Health == sources.HealthLive && st.Scopes[row.Scope].Synced
}

// recordedRow is At for a row that exists in a recording only.
func (x *Index) recordedRow(h Handle) (*sources.Row, verdict.Verdict) {
	at := int(-1 - h.Slot)
	if at >= len(x.recorded) {
		return nil, verdict.Verdict{}
	}
	v := verdict.Verdict{Status: sources.StatusUnknown, Severity: verdict.Blind, Known: verdict.Blind}
	if Watched(x.st, x.recorded[at]) {
		v.Status = sources.StatusFree
	}
	v.Last = v.Status
	return x.recorded[at], v
}

// ListsRecorded reports whether a row that exists in a recording only passes the filter.
func (x *Index) ListsRecorded(h Handle) bool {
	row, v := x.recordedRow(h)
	return row != nil && x.lists(row, v)
}
