package verdict

import (
	"slices"

	"coordtop/sources"
)

// agreement identifies the scopes in which the same name is the same lock.
type agreement struct {
	group  int  // SourceStatus.Agree
	spaced bool // a name is another lock in each space; if false, spaces do not matter
}

// Peers returns the slots of the rows that are the same lock as a row, including its own: those with its name in scopes
// that agree with its scope. It returns nil if no scope does.
func (j *Judge) Peers(row *sources.Row) (slots []int32) {
	is := j.agreement(row)
	if is.group == 0 {
		return nil
	}
	for _, slot := range j.Names[row.Name] {
		if slot < 0 || j.State.Rows[slot] == nil || j.State.Rows[slot].Name != row.Name {
			continue // the slot is of another State, or of none
		}
		other := j.State.Rows[slot]
		if as := j.agreement(other); as.group == is.group && (!as.spaced || !is.spaced || other.Space == row.Space) {
			slots = append(slots, slot)
		}
	}
	return slots
}

func (j *Judge) agreement(row *sources.Row) (a agreement) {
	if i := slices.IndexFunc(j.State.Sources, func(s sources.SourceStatus) bool { return s.Name == row.Source }); i >= 0 {
		s := &j.State.Sources[i]
		a = agreement{s.Agree, s.Type == "postgres" || s.Type == "ydb"}
	}
	return a
}

// rivalOf returns a peer of a row that has another owner, if both have exactly one owner. It returns nil without such a
// peer.
func (j *Judge) rivalOf(row *sources.Row) *sources.Row {
	for _, slot := range j.Peers(row) {
		if other := j.State.Rows[slot]; other.Ref != row.Ref && row.OwnedAlone() && other.OwnedAlone() && !sameOwner(sole(row), sole(other)) {
			return other
		}
	}
	return nil
}

// sole returns the only owner of a row.
func sole(row *sources.Row) *sources.Owner {
	if len(row.Owners) == 0 {
		return &sources.Owner{Label: nameless} // the backend reports only that somebody owns it
	}
	return &row.Owners[0]
}

// nameless is the label of an owner whose value names nobody.
const nameless = "?"

// sameOwner reports whether two owners on different servers are the same as far as their values and labels show,
// because a value identifies its owner on every server. Sessions are not compared, because they belong to one server. A
// value that names nobody may be anybody's.
func sameOwner(a, b *sources.Owner) bool {
	return a.Label == b.Label && a.Label != nameless && a.Label != a.Session && (a.Session != "" || b.Session != "" || a.ID == b.ID)
}
