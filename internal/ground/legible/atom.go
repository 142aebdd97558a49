package legible

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// marks are the kinds of separators; _ counts as -, because base64 has both.
const marks = "-.:@ /"

// atom is the text between two separators.
type atom struct {
	text   int     // index of the text between separators that it is, or is a part of
	size   int     // in characters
	cost   float64 // bits to pick it out of all the texts that would be accepted in its place
	chars  int     // ASCII letters and digits
	has    classes
	named  bool    // it contains a word
	form   bool    // it has a cloud's form, which alone makes it a name
	cut    bool    // an end of a name without a meaning
	split  bool    // it may be text and the beginning or the end of a nonce, without a separator between
	ahead  float64 // bits that its beginning saves if it is split and that part belongs to the nonce
	behind float64 // the same for its end
	glued  bool    // no separator stands before it
	mark   byte    // the separator before it; 0: none
}

// vague reports whether an atom is two or more letters without a meaning.
func (a *atom) vague() bool {
	return !a.named && !a.form && !a.cut && a.size > 1 && a.has&(small|capital) != 0
}

// classes are the sets that characters are drawn from.
type classes uint8

const (
	small classes = 1 << iota
	capital
	digit
	notHex // a letter after f
)

func classesOf(s string) (has classes, chars int) {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			has |= digit
		case 'a' <= c && c <= 'z':
			has |= small
			if c > 'f' {
				has |= notHex
			}
		case 'A' <= c && c <= 'Z':
			has |= capital
			if c > 'F' {
				has |= notHex
			}
		default:
			continue
		}
		chars++
	}
	return has, chars
}

// window is a stretch of atoms.
type window struct {
	atoms  int
	length int  // in characters
	beside bool // some text beside it is not shown
	cut    bool // it contains an end without a meaning
	marks  int  // a bit for each kind of separator in it
	has    classes
	chars  int
	cost   float64
}

func (w *window) add(a *atom, joined bool) {
	if joined && a.mark != 0 {
		w.marks |= 1 << strings.IndexByte(marks, a.mark)
	}
	w.atoms++
	w.length += a.size
	if joined && !a.glued {
		w.length++
	}
	w.cut = w.cut || a.cut
	w.has |= a.has
	w.chars += a.chars
	w.cost += a.cost
}

// bits returns how many bits more a random text of the same make-up takes than the name does. The random text is drawn
// from the smallest set of characters that contains all of the name's.
func (w *window) bits() float64 {
	size, cost := 0, w.cost
	if !w.beside && bits.OnesCount(uint(w.marks)) > 1 {
		cost -= bitsOfMarks
	}
	if w.has&digit != 0 {
		size += 10
	}
	switch {
	case w.has&(small|capital) == 0:
	case w.has&notHex == 0 && w.has&(small|capital) != small|capital:
		size = 16
	case w.has&small != 0 && w.has&capital != 0:
		size += 2 * alphabet
		cost += bitsOfCase * float64(w.atoms)
	default:
		size += alphabet
	}
	if size == 0 {
		return -w.cost
	}
	return float64(w.chars)*math.Log2(float64(size)) - cost
}

// Costs of the kinds of atoms, in bits. The rarer a kind is in names, the higher is its cost.
const (
	kindWord    = 1
	kindPlural  = 3
	kindNumber  = 2 // none for a digit alone: groups are longer
	kindPair    = 2
	kindInitial = 4 // it may stand before or after the word
	kindLetter  = 3
	kindSpoken  = 3
	kindMixed   = 2 // in addition to the costs of its parts

	bitsOfCase    = 2 // for each of several words that are written in different cases
	bitsOfMixed   = 8 // a word in the list that has digits
	bitsOfForeign = 6 // for each byte of a text with letters beyond ASCII, which has no other evidence
	bitsOfMarks   = 5 // saved by several kinds of separators, because a nonce in groups has only one kind
	bitsOfPod     = 2 // saved by five characters without vowels, as pods have them
)

var bitsOfDigit, bitsOfLetter = math.Log2(10), math.Log2(alphabet)

// Lengths in characters.
const (
	shortestSpoken = 4
	longestSpoken  = 11 // a nonce is longer
	shortestHump   = 3
	longestUnknown = 3 // letters that need not be a word: an abbreviation
	longestNumber  = 7 // a process, a thread, a port
	longestBeside  = 7 // a number next to letters
	longestBefore  = 4 // a number before letters
	longestEnd     = 5 // an end without a meaning, for example a pod's
)

// spoken is the number of bits that a text must save to count as a word although no list has it.
const spoken = 2

// unspoken is the number of bits that such a text must save if it has fewer than eight letters. Being negative, it
// counts against a name, so that the words beside it decide.
const unspoken = -10

// part splits a text without strong separators into labels separated by dots, and each label at - and _.
func part(text string) (atoms []atom, ok bool) {
	if text == "" {
		return nil, false
	}
	place := 0 // index of a text in the part
	for label := range strings.SplitSeq(text, ".") {
		texts := strings.FieldsFunc(label, func(r rune) bool { return r == '-' || r == '_' })
		if len(texts) == 0 || len(label) != joined(texts) {
			return nil, false // a separator at an end, or two in a row
		}
		forms, named := formsOf(label, texts), false
		for i, t := range texts {
			list, ok := read(t)
			if i >= len(texts)-forms || i == 0 && forms == nodeForms {
				list, ok = []atom{{form: true}}, true
			}
			word := slices.ContainsFunc(list, func(a atom) bool { return a.named })
			if i > 0 && i == len(texts)-1 && named && !word && cutOff(t) {
				list, ok = []atom{{size: len(t), cut: true}}, true
				if podTail().MatchString(t) {
					list[0].cost = -bitsOfPod
				}
			}
			if !ok {
				return nil, false
			}
			named = named || word
			switch {
			case i > 0:
				list[0].mark = '-'
			case place > 0:
				list[0].mark = '.'
			}
			for _, a := range list {
				a.text = place
				atoms = append(atoms, a)
			}
			place++
		}
	}
	for _, p := range placesOf(text) {
		for i := range atoms {
			atoms[i].form = atoms[i].form || p.first <= atoms[i].text && atoms[i].text < p.end
		}
	}
	return atoms, !numerous(atoms)
}

// numerous reports whether eight characters in a row are digits and separators. The words around these are no evidence
// about them.
func numerous(atoms []atom) bool {
	run := 0
	for i := range atoms {
		a := &atoms[i]
		if a.form || a.has != digit {
			run = 0
			continue
		}
		if run > 0 {
			run++
		}
		if run += a.size; run >= shortestLeak {
			return true
		}
	}
	return false
}

// joined returns the length of texts with one separator between each two.
func joined(texts []string) int {
	n := len(texts) - 1
	for _, t := range texts {
		n += len(t)
	}
	return n
}

// read splits the text between two separators into at most three atoms: letters and numbers in turn.
func read(s string) (list []atom, ok bool) {
	if words().mixed[strings.ToLower(s)] {
		return []atom{newAtom(s, bitsOfMixed, true)}, true
	}
	digits, capitals := 0, s == strings.ToUpper(s)
	for from := 0; from < len(s); {
		to, isNumber := from, isDigit(s[from])
		for to < len(s) && isDigit(s[to]) == isNumber {
			to++
		}
		text := s[from:to]
		var a atom
		if isNumber {
			digits += len(text)
			a = newAtom(text, bitsOfDigit*float64(len(text)), false)
			if len(text) > 1 || len(s) > 1 {
				a.cost += kindNumber
			}
		} else {
			cost, word, ok := lettered(text, from > 0, len(text) < len(s))
			if !ok || from > 0 && text != strings.ToLower(text) && !capitals {
				return nil, false
			}
			a = newAtom(text, cost, word)
			if word {
				a.split, a.ahead, a.behind = words().halves(text)
			}
		}
		if a.glued = from > 0; a.glued {
			a.cost += kindMixed
		}
		list = append(list, a)
		from = to
	}
	switch n := len(list); {
	case n > 3 || n == 3 && isDigit(s[0]):
		return nil, false
	case n == 1 && digits > longestNumber, n > 1 && digits > longestBeside, n > 1 && isDigit(s[0]) && digits > longestBefore:
		return nil, false
	}
	return list, true
}

func newAtom(s string, cost float64, named bool) atom {
	a := atom{size: utf8.RuneCountInString(s), cost: cost, named: named}
	a.has, a.chars = classesOf(s)
	return a
}

// lettered reads letters. behind means that they follow a number: they must be one letter or a word. beside means that
// they are next to one: longer unknown letters must read like a word.
func lettered(s string, behind, beside bool) (cost float64, word, ok bool) {
	low := strings.ToLower(s)
	d := words()
	switch {
	case strings.ContainsFunc(s, notLetter):
		return 0, false, false
	case !ascii(s):
		return kindLetter + bitsOfForeign*float64(len(s)), false, utf8.RuneCountInString(s) < shortestLeak
	case len(s) == 1:
		return kindLetter + bitsOfLetter, false, true
	case !oneCase(s):
		return humps(s)
	}
	if cost, ok := d.bits(low); ok {
		return cost, true, true
	}
	switch {
	case len(s) <= longestUnknown:
		return kindLetter + bitsOfLetter*float64(len(s)), false, !behind
	}
	if cost, ok := d.initial(low); ok && !beside {
		return cost, true, true
	}
	switch {
	case d.pair(low):
		return kindPair + d.two[len(s)], true, true
	case len(s) > longestSpoken || behind:
		return 0, false, false
	}
	saved := letterModel().saved(low)
	if saved < spoken && len(s) < shortestLeak && !beside {
		return kindSpoken + bitsOfLetter*float64(len(s)), false, saved >= unspoken
	}
	return kindSpoken + bitsOfLetter*float64(len(s)) - saved, saved >= spoken, saved >= spoken
}

// humps reads words each of which, except the first, begins with a capital: orderService.
func humps(s string) (cost float64, word, ok bool) {
	d := words()
	for from := 0; from < len(s); {
		to := from + 1
		for to < len(s) && !unicode.IsUpper(rune(s[to])) {
			to++
		}
		if to == from+1 { // an abbreviation: HTTPServer
			for to < len(s) && unicode.IsUpper(rune(s[to])) {
				to++
			}
			if to < len(s) {
				to--
			}
		}
		hump := strings.ToLower(s[from:to])
		if len(hump) > longestPair || len(hump) < shortestHump || !d.known[hump] {
			return 0, false, false
		}
		cost += kindPair + d.one[len(hump)]
		from = to
	}
	return cost, true, true
}

// cutOff reports whether s may be an end of a name without a meaning: a few lower-case letters and digits. A number
// alone is none.
func cutOff(s string) bool {
	letter := false
	for i := range len(s) {
		isLetter := 'a' <= s[i] && s[i] <= 'z'
		if !isLetter && !isDigit(s[i]) {
			return false
		}
		letter = letter || isLetter
	}
	return letter && len(s) <= longestEnd
}

// oneCase reports whether letters are all lower-case, all upper-case, or lower-case after a capital.
func oneCase(s string) bool {
	return s == strings.ToLower(s) || s == strings.ToUpper(s) || s[1:] == strings.ToLower(s[1:])
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
