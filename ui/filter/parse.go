package filter

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/format"
)

// Error reports why a text is not a filter.
type Error struct {
	At   int    // where, in bytes from the beginning
	Text string // a sentence for the person
	Open bool   // the text is only unfinished ("kind=", "a or")
}

// Error returns the sentence.
func (e *Error) Error() string { return e.Text }

// maxDepth bounds the nesting of parentheses and negations.
const maxDepth = 50

// Parse parses a filter. labels are the labels that sources have. An error is an *Error: if it is
// Open, the Expr is the finished part of the text, else it is empty. The end of the text closes
// open quotes and parentheses.
func (fs Fields) Parse(text string, labels []string) (Expr, error) {
	p := parser{scanner: scanner{text: text}, fields: fs, labels: labels}
	p.advance()
	root := p.either(0)
	if p.failed == nil && p.token.kind == tokenClose {
		p.fail(p.token.at, "a ) too many")
	}
	switch {
	case p.failed == nil:
		return Expr{root, p.counts}, nil
	case p.failed.Open:
		return Expr{root, p.counts}, p.failed
	}
	return Expr{}, p.failed
}

type parser struct {
	scanner
	fields Fields
	labels []string
	token  token
	counts bool   // see Expr.Counts
	failed *Error // the first one that is not Open, else the first
}

func (p *parser) advance() { p.token = p.next() }

func (p *parser) fail(at int, format string, args ...any) {
	if p.failed == nil || p.failed.Open {
		p.failed = &Error{At: at, Text: fmt.Sprintf(format, args...)}
	}
}

// open notes that something is still missing.
func (p *parser) open(at int, text string) {
	if p.failed == nil {
		p.failed = &Error{At: at, Text: text, Open: true}
	}
}

// is reports whether the token is that keyword.
func (p *parser) is(keyword string) bool {
	return p.token.kind == tokenWord && !p.token.quoted && strings.EqualFold(p.token.text, keyword)
}

// either parses terms joined by "or"; nil without a term.
func (p *parser) either(depth int) node {
	var list anyOf
	for {
		at := p.token.at
		n := p.both(depth)
		if n != nil {
			list = append(list, n)
		} else if p.is("or") || len(list) > 0 {
			p.open(at, "or what?")
		}
		if !p.is("or") || p.stopped() {
			break
		}
		p.advance()
	}
	return joined(list, list)
}

// joined returns the only node of a list, else all, which joins them; nil for an empty list.
func joined(list []node, all node) node {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return all
}

// both parses terms joined by "and" or by nothing.
func (p *parser) both(depth int) node {
	var list allOf
	for !p.stopped() && p.token.kind != tokenEnd && p.token.kind != tokenClose && !p.is("or") {
		if p.is("and") {
			at := p.token.at
			if p.advance(); len(list) == 0 || p.token.kind == tokenEnd {
				p.open(at, "and what?")
			}
			continue
		}
		if n := p.term(depth); n != nil {
			list = append(list, n)
		}
	}
	return joined(list, list)
}

// stopped reports whether an error occurred that more text cannot mend.
func (p *parser) stopped() bool { return p.failed != nil && !p.failed.Open }

func (p *parser) term(depth int) node {
	t := p.token
	if depth > maxDepth {
		p.fail(t.at, "nested too deeply")
		return nil
	}
	p.advance()
	switch t.kind {
	case tokenNot:
		if p.token.kind == tokenEnd || p.token.kind == tokenClose {
			p.open(t.at, "! before what?")
			return nil
		}
		if of := p.term(depth + 1); of != nil {
			return negated{of}
		}
		return nil
	case tokenOpen:
		n := p.either(depth + 1)
		if p.token.kind == tokenClose {
			p.advance()
		}
		return n
	case tokenCompare:
		return p.compare(t)
	}
	if t.text == "" {
		return nil
	}
	return word{contains(t.text)}
}

// compare turns the token of a comparison into its node.
func (p *parser) compare(t token) node {
	field, key := p.fields.Find(strings.ToLower(t.text)), ""
	if field < 0 {
		if t.text == "" {
			p.fail(t.at, "which field %s %s?", t.op, t.value)
			return nil
		}
		i := slices.IndexFunc(p.labels, func(l string) bool { return strings.EqualFold(l, t.text) })
		if i < 0 {
			if near := p.fields.meant(t.text, p.labels); near != "" {
				p.fail(t.at, "no field or label %s: did you mean %s?", t.text, near)
			} else {
				p.fail(t.at, "no field or label %s: tab lists them, quotes look for it as text", t.text)
			}
			return nil
		}
		key = p.labels[i]
	}
	if t.empty {
		p.open(t.at, t.text+t.op+" what?")
		return nil
	}
	of, number := operand{field, key}, key == "" && p.fields[field].Is != Text
	if t.value == "?" && !t.asIs {
		if t.op != "=" && t.op != "!=" {
			p.fail(t.valued, "? is what is not known: use = or !=")
			return nil
		}
		return isUnknown{of, number, t.op == "!="}
	}
	if number {
		return p.compareNumber(t, field)
	}
	return p.compareText(t, of)
}

func (p *parser) compareText(t token, of operand) node {
	n := textIs{operand: of, not: t.op[0] == '!'}
	switch t.op {
	case "=", "!=":
		value := t.value
		if of.key == "" && p.fields[of.field].Value != nil {
			value = p.fields[of.field].Value(value)
		}
		n.match = func(s string) bool { return strings.EqualFold(s, value) }
	case "~", "!~":
		re, err := regexp.Compile("(?i)" + t.value)
		if err != nil {
			p.fail(t.valued, "%s", expressionError(err))
			return nil
		}
		n.match = re.MatchString
	default:
		p.fail(t.at, "%s is a text: use = != ~ or !~", t.text)
		return nil
	}
	return n
}

// expressionError describes an error in a regular expression without repeating the expression.
func expressionError(err error) string {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return "the expression has a " + string(e.Code)
	}
	return "no regular expression"
}

func (p *parser) compareNumber(t token, field int) node {
	var n, unit int64
	var ok bool
	f := &p.fields[field]
	is := numberIs{field: field, count: f.Counts && strings.Trim(t.value, "0123456789") == ""}
	p.counts = p.counts || is.count
	if f.Is == Count || is.count {
		if n, ok = parseCount(t.value); !ok {
			p.fail(t.valued, "%s is compared with a number", t.text)
			return nil
		}
		unit = 1
	} else if n, unit, ok = parseLength(t.value); !ok {
		p.fail(t.valued, "%s is compared with a time as 30s, 10m, 2h or 3d", t.text)
		return nil
	}
	switch t.op {
	case "=", "!=":
		is.from, is.to, is.not = n, n+unit-1, t.op == "!="
	case "<":
		is.from, is.to = math.MinInt64, n-1
	case "<=":
		is.from, is.to = math.MinInt64, n
	case ">":
		is.from, is.to = n+1, math.MaxInt64
	case ">=":
		is.from, is.to = n, math.MaxInt64
	default:
		p.fail(t.at, "%s is a number: use = != < > <= or >=", t.text)
		return nil
	}
	return is
}

// maxCount keeps sums with numbers and lengths of time far from their ends.
const maxCount = 1 << 60

func parseCount(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && n < maxCount
}

// parseLength parses "1h30m" and returns the last unit that was written.
func parseLength(s string) (n, unit int64, ok bool) {
	d, ok := format.ParseLength(s)
	last := map[string]time.Duration{
		"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[s[strings.LastIndexAny(s, "0123456789")+1:]]
	return int64(d), int64(last), ok && last > 0 && d < maxCount
}

// contains returns a matcher for texts that contain word, in any case of letters. It allocates
// nothing for a text in lower case: it runs over every row while the person types.
func contains(word string) func(string) bool {
	lower := strings.ToLower(word)
	return func(s string) bool { return strings.Contains(strings.ToLower(s), lower) }
}

// OneWord joins words with hyphens, so that they need no quotes: "led, renewal late" becomes
// led-renewal-late.
func OneWord(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '-' || r == '_' }), "-")
}
