package filter

import "slices"

// Field is what a comparison may ask for.
type Field uint8

// The fields, in the order in which they are offered.
const (
	Source Field = iota
	Kind
	Name
	Owner
	State
	Since
	Wait
	Changes
	Lease
	Gap
	Waiters    // the field wait, compared with a plain number
	FieldCount // how many there are
)

// fieldEntry is what there is to know of a field.
type fieldEntry struct {
	name string // as it is written; "": it is not
	op   string // the operator that is used most
	is   fieldKind
	many Field // what a plain number is compared with instead; 0: no other field
}

// fieldKind is what a field is compared with.
type fieldKind uint8

const (
	fieldText fieldKind = iota
	fieldCount
	fieldLength // of time
)

// fieldTable are the fields. How a subject answers to them is its own table.
var fieldTable = [FieldCount]fieldEntry{
	Source:  {name: "source", op: "="},
	Kind:    {name: "kind", op: "="},
	Name:    {name: "name", op: "~"},
	Owner:   {name: "owner", op: "~"},
	State:   {name: "state", op: "="},
	Since:   {name: "since", op: "<", is: fieldLength},
	Wait:    {name: "wait", op: ">", is: fieldLength, many: Waiters},
	Changes: {name: "chg", op: ">", is: fieldCount},
	Lease:   {name: "lease", op: "<", is: fieldLength},
	Gap:     {name: "gap", op: ">", is: fieldLength},
	Waiters: {is: fieldCount},
}

// Fields returns the names of the fields, in the order in which they are offered.
func Fields() []string {
	var names []string
	for i := range fieldTable {
		if fieldTable[i].name != "" {
			names = append(names, fieldTable[i].name)
		}
	}
	return names
}

// FieldOf finds a field by its name.
func FieldOf(name string) (f Field, ok bool) {
	i := slices.IndexFunc(fieldTable[:], func(e fieldEntry) bool { return e.name == name && name != "" })
	return Field(max(i, 0)), i >= 0
}

func (f Field) text() bool { return fieldTable[f].is == fieldText }

// Subject is what a filter judges. Match calls its methods on the goroutine that it
// runs on.
type Subject interface {
	// Words reports whether match holds for one of the texts in which a bare word is looked
	// for.
	Words(match func(string) bool) bool
	// Text reports whether match holds for one of the values of a text field, and whether
	// they are known.
	Text(f Field, match func(string) bool) (found, known bool)
	// Number returns the value of a number field, nanoseconds where it is a length of
	// time, and whether it is known.
	Number(f Field) (n int64, known bool)
	// Label returns the value of a label; false: there is none.
	Label(key string) (value string, ok bool)
}

// Expr is a filter that was understood. The zero Expr lets everything pass.
type Expr struct{ root node }

// Empty says that everything passes.
func (e Expr) Empty() bool { return e.root == nil }

// Match reports whether s passes.
func (e Expr) Match(s Subject) bool { return e.root == nil || e.root.eval(s) == yes }

// CountsWaiters reports whether a number of waiters is asked for, as in wait>30: who writes
// that may have meant seconds.
func (e Expr) CountsWaiters() bool { return countsWaiters(e.root) }

func countsWaiters(n node) bool {
	switch n := n.(type) {
	case anyOf:
		return slices.ContainsFunc(n, countsWaiters)
	case allOf:
		return slices.ContainsFunc(n, countsWaiters)
	case negated:
		return countsWaiters(n.of)
	case numberIs:
		return n.field == Waiters
	}
	return false
}

// answer is what is known of a question about a subject.
type answer uint8

const (
	no answer = iota
	unknown
	yes
)

func answered(b bool) answer {
	if b {
		return yes
	}
	return no
}

// node is a part of an Expr.
type node interface{ eval(Subject) answer }

type allOf []node

func (n allOf) eval(s Subject) answer {
	least := yes
	for _, c := range n {
		if least = min(least, c.eval(s)); least == no {
			return no
		}
	}
	return least
}

type anyOf []node

func (n anyOf) eval(s Subject) answer {
	most := no
	for _, c := range n {
		if most = max(most, c.eval(s)); most == yes {
			return yes
		}
	}
	return most
}

type negated struct{ of node }

func (n negated) eval(s Subject) answer { return yes - n.of.eval(s) }

// word is text that must occur somewhere.
type word struct{ match func(string) bool }

func (n word) eval(s Subject) answer { return answered(s.Words(n.match)) }

// textIs compares a text field, or a label where key is not "".
type textIs struct {
	field Field
	key   string
	match func(string) bool
	not   bool
}

func (n textIs) eval(s Subject) answer {
	found, known := false, false
	if n.key != "" {
		var value string
		if value, known = s.Label(n.key); known {
			found = n.match(value)
		}
	} else {
		found, known = s.Text(n.field, n.match)
	}
	if !known {
		return unknown
	}
	return answered(found != n.not)
}

// numberIs reports whether a number field lies in [from, to), or, with not, outside of it.
type numberIs struct {
	field    Field
	from, to int64
	not      bool
}

func (n numberIs) eval(s Subject) answer {
	v, known := s.Number(n.field)
	if !known {
		return unknown
	}
	return answered((n.from <= v && v < n.to) != n.not)
}

// isUnknown is field=?, with not field!=?.
type isUnknown struct {
	field Field
	key   string
	not   bool
}

func (n isUnknown) eval(s Subject) answer {
	known := false
	switch {
	case n.key != "":
		_, known = s.Label(n.key)
	case n.field.text():
		_, known = s.Text(n.field, nothing)
	default:
		_, known = s.Number(n.field)
	}
	return answered(known == n.not)
}

func nothing(string) bool { return false }
