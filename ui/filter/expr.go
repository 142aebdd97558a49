package filter

import "slices"

// Field is one field of the language.
type Field struct {
	Name   string // as it is written
	Op     string // the operator that is used most
	Is     FieldKind
	Counts bool                // of a Length: a plain number is compared with a count of things
	Value  func(string) string // normalizes a typed value; nil: it stays as typed

	Also []string // words of other programs for the field: they are refused, with its name as the one that was meant
}

// FieldKind is the type of a field's values.
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

// Range bounds a number: it is between Low and High, both included. For "at least five minutes"
// High is math.MaxInt64.
type Range struct{ Low, High int64 }

// Subject is a row, an event or an action that a filter judges. Match calls its methods on the
// goroutine that it runs on. A field is named by its index.
type Subject interface {
	// Words reports whether match holds for one of the texts in which bare words are searched.
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

// Expr is a parsed filter. The zero Expr lets everything pass.
type Expr struct {
	root   node
	counts bool
}

// Empty reports whether everything passes.
func (e Expr) Empty() bool { return e.root == nil }

// Match reports whether s passes.
func (e Expr) Match(s Subject) bool { return e.root == nil || e.root.eval(s) == yes }

// Counts reports whether a field of times is compared with a plain number, as in wait>30: the
// writer may have meant seconds.
func (e Expr) Counts() bool { return e.counts }

// answer is the result of a comparison, which may be unknown.
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

// word requires a text to occur somewhere.
type word struct{ match func(string) bool }

func (n word) eval(s Subject) answer { return answered(s.Words(n.match)) }

// operand is a field, or a label where key is not "".
type operand struct {
	field int
	key   string
}

// text matches the texts of the operand.
func (o operand) text(s Subject, match func(string) bool) (found, known bool) {
	if o.key == "" {
		return s.Text(o.field, match)
	}
	value, known := s.Label(o.key)
	return known && match(value), known
}

// textIs compares texts.
type textIs struct {
	operand
	match func(string) bool
	not   bool
}

func (n textIs) eval(s Subject) answer {
	found, known := n.text(s, n.match)
	if !known {
		return unknown
	}
	return answered(found != n.not)
}

// numberIs reports whether a number is between from and to, both included, or, with not, outside of
// them. The answer is unknown if that holds for some values in the number's Range only.
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
	operand
	number bool
	not    bool
}

func (n isUnknown) eval(s Subject) answer {
	var known bool
	if n.number {
		_, known = s.Number(n.field, false)
	} else {
		_, known = n.text(s, func(string) bool { return false })
	}
	return answered(known == n.not)
}
