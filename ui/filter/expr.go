package filter

import "slices"

// Field is what a comparison may ask for.
type Field struct {
	Name   string // as it is written
	Op     string // the operator that is used most
	Is     FieldKind
	Counts bool                // of a Length: a plain number is compared with a count of things
	Value  func(string) string // how a value is written that was typed; nil: as it was typed

	Also []string // words for the field in other programs
}

// FieldKind is what a field is compared with.
type FieldKind uint8

// The kinds of fields.
const (
	Text FieldKind = iota
	Count
	Length // of time
)

// Fields is a language: the fields that its filters may ask for, in the order in which they
// are offered.
type Fields []Field

// Find returns the index of a field by its name; -1: there is none.
func (fs Fields) Find(name string) int {
	return slices.IndexFunc(fs, func(f Field) bool { return f.Name == name })
}

// Range is what is known of a number: it is between Low and High, both included. For "at least
// five minutes" High is math.MaxInt64.
type Range struct{ Low, High int64 }

// Subject is what a filter judges. Match calls its methods on the goroutine that it
// runs on. A field is named by its index.
type Subject interface {
	// Words reports whether match holds for one of the texts in which a bare word is looked
	// for.
	Words(match func(string) bool) bool
	// Text reports whether match holds for one of the values of a text field, and whether
	// they are known.
	Text(field int, match func(string) bool) (found, known bool)
	// Number returns the value of a number field, nanoseconds where it is a length of
	// time, or the count that a plain number is compared with; false: it is not known.
	Number(field int, count bool) (r Range, known bool)
	// Label returns the value of a label; false: there is none.
	Label(key string) (value string, ok bool)
}

// Expr is a filter that was understood. The zero Expr lets everything pass.
type Expr struct{ root node }

// Empty reports whether everything passes.
func (e Expr) Empty() bool { return e.root == nil }

// Match reports whether s passes.
func (e Expr) Match(s Subject) bool { return e.root == nil || e.root.eval(s) == yes }

// Counts reports whether a field of times is compared with a plain number, as in wait>30: the
// writer may have meant seconds.
func (e Expr) Counts() bool { return counts(e.root) }

func counts(n node) bool {
	switch n := n.(type) {
	case anyOf:
		return slices.ContainsFunc(n, counts)
	case allOf:
		return slices.ContainsFunc(n, counts)
	case negated:
		return counts(n.of)
	case numberIs:
		return n.count
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
	field int
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

// numberIs reports whether a number is between two, both included, or, with not, outside of
// them. It is not known where that holds for some of the values that the number may have.
type numberIs struct {
	field    int
	count    bool
	from, to int64
	not      bool
}

func (n numberIs) eval(s Subject) answer {
	v, known := s.Number(n.field, n.count)
	inside, outside := n.from <= v.Low && v.High <= n.to, v.High < n.from || n.to < v.Low
	if !known || !inside && !outside {
		return unknown
	}
	return answered(inside != n.not)
}

// isUnknown is field=?, with not field!=?.
type isUnknown struct {
	field int
	key   string
	text  bool
	not   bool
}

func (n isUnknown) eval(s Subject) answer {
	known := false
	switch {
	case n.key != "":
		_, known = s.Label(n.key)
	case n.text:
		_, known = s.Text(n.field, nothing)
	default:
		_, known = s.Number(n.field, false)
	}
	return answered(known == n.not)
}

func nothing(string) bool { return false }
