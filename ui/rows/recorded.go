package rows

import (
	"math"
	"slices"

	"coordtop/sources"
	"coordtop/sources/verdict"
)

// mostRecorded bounds the rows that exist in a recording only and are kept from one list to the next.
const mostRecorded = 2000

// Recorded reports whether a handle is of a row that exists in a recording only: no State has it.
func (h Handle) Recorded() bool { return h.Slot < 0 }

// ListRecorded returns the handles of rows that only the recording knows: the same ones as before of those that
// are known. Once more than mostRecorded rows were listed, it makes all earlier handles invalid.
func (x *Index) ListRecorded(prims []*sources.Primitive) (handles []Handle) {
	if x.recordedAt == nil || len(x.recorded) >= mostRecorded {
		for _, row := range x.recorded {
			x.judge.Names.Remove(row.Name, row.Slot)
		}
		x.recorded, x.recordedAt = nil, map[sources.Ref]*sources.Row{}
	}
	for _, p := range prims {
		row := x.recordedAt[p.Ref]
		if row == nil {
			row = &sources.Row{Primitive: p, Slot: -1 - len(x.recorded)}
			x.recorded, x.recordedAt[p.Ref] = append(x.recorded, row), row
			x.judge.Names.Add(p.Name, row.Slot)
		}
		row.Scope = scopeOf(x.st, p.Ref)
		handles = append(handles, HandleOf(row))
	}
	return handles
}

// scopeOf returns the scope that a row would be in; math.MaxInt without a candidate, or with
// several.
func scopeOf(st *sources.State, ref sources.Ref) int {
	ofSource := func(s sources.Scope) bool { return s.Source == ref.Source }
	if named := slices.IndexFunc(st.Scopes, func(s sources.Scope) bool { return ofSource(s) && s.Name == ref.Space }); named >= 0 {
		return named
	}
	if i := slices.IndexFunc(st.Scopes, ofSource); i >= 0 && !slices.ContainsFunc(st.Scopes[i+1:], ofSource) {
		return i
	}
	return math.MaxInt
}

// recordedRow is At for a row that exists in a recording only.
func (x *Index) recordedRow(h Handle) (*sources.Row, verdict.Verdict) {
	at := int(-1 - h.Slot)
	if at >= len(x.recorded) {
		return nil, verdict.Verdict{}
	}
	v := verdict.Verdict{Status: sources.StatusUnknown, Severity: verdict.Blind, Known: verdict.Blind}
	if x.recorded[at].Watched(x.st) {
		v.Status = sources.StatusFree
	}
	v.Last = v.Status
	return x.recorded[at], v
}
