package legible

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"coordtop/internal/ground/lazy"
)

// longest is the length in bytes of the longest value that is searched for a name.
const longest = 256

// Name reports whether the whole text is positively a name.
func Name(text string) bool {
	if isAddress(text) {
		return true
	}
	s, ok := sight(text, true)
	return ok && len(s) == 1 && s[0].start == 0 && s[0].end == len(text) && len(phrases(text)) == 0
}

// Part returns a part of a value that is positively a name, although the whole value is not: the surest stretch between
// : @ / , ; | # and blanks. For a JSON object it returns the first field that identifies its writer. It returns "" if
// there is no such part.
func Part(text string) string {
	if len(text) > longest || text == "" {
		return ""
	}
	if text[0] == '{' {
		return field(text)
	}
	if rest := behindNonce(text); rest != "" {
		return rest
	}
	for _, phrase := range phrases(text) {
		text = strings.ReplaceAll(text, phrase, "\x00")
	}
	best, found := 0.0, ""
	choose := func(piece string, runs []run) {
		for _, r := range runs {
			if bits := r.bits(); bits >= surePart && bits > best {
				best, found = bits, piece[r.start:r.end]
			}
		}
	}
	for _, rest := range besideNonces(text) {
		runs, all := sight(rest, len(rest) < len(text))
		if all || len(rest) == len(text) {
			choose(rest, runs)
			continue
		}
		runs, _ = sight(rest, false)
		choose(rest, runs)
	}
	return found
}

// Bits of evidence that are required.
const (
	sureWhole  = 21.0 // for 12 characters and more that are a whole value
	sureEdge   = 20.0 // for 12 and more at an end of it, because a nonce may have text before or after it
	sureInside = 18.0 // for 12 and more in the middle of it
	sureGlued  = 2.0  // fewer at each end without a separator, because a nonce and text seldom touch
	sureSign   = 5.0  // fewer if only the text beside it makes it 12, because few nonces end in a separator
	sureWindow = -4.0 // for 8 to 11, which are no nonce unless there is text beside them
	sureEnd    = 4.0  // like sureWindow, for a stretch with an end without a meaning
	moreBeside = 4.0  // more for 12 and more, if some text beside them is not shown
	sureBeside = 17.0 // for 8 to 11, if some text beside them is not shown
	surePart   = 6.0  // for fewer than 8 beside text that is not shown
	sureDoubt  = 8.0  // for 12 and more, if a word at an end may be two and only one of these counts
	sureBehind = 20.0 // for text directly after a nonce, without a separator
)

// uuid matches a UUID of any version. A UUID is a nonce wherever it stands, so it separates the texts before and after
// it.
var uuid = lazy.Regexp(`(?:urn:uuid:)?` + UUID)

// UUID is a regular expression that matches a UUID.
const UUID = `[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`

// besideNonces returns the texts between the parts that are surely nonces.
func besideNonces(text string) []string {
	var list []string
	for _, piece := range uuid().Split(text, -1) {
		from := 0
		for at := 0; at < len(piece); {
			n := strings.IndexAny(piece[at:], strong+dividing)
			if n < 0 {
				n = len(piece) - at
			}
			if random(piece[at : at+n]) {
				list = append(list, piece[from:at])
				from = at + n
			}
			at += n + 1
		}
		list = append(list, piece[from:])
	}
	if len(list) == 1 {
		return list
	}
	for i := range list {
		list[i] = strings.Trim(list[i], weak+strong+dividing+"/")
	}
	return list
}

// random reports whether s is hex without a separator and long enough to be a whole nonce, not a group of a nonce with
// text directly beside it.
func random(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; !isDigit(s[i]) && (c < 'a' || c > 'f') {
			return false
		}
	}
	has, _ := classesOf(s)
	return len(s) >= shortestSecret && (has == digit|small || has == digit|capital)
}

// shortNonce is the length of what bsm/redislock writes directly before its metadata: 16
// bytes in base64url.
const shortNonce = 22

var base64URL = lazy.Regexp(`^[A-Za-z0-9_-]{22}`)

// behindNonce returns the metadata that stands directly behind a nonce of 22 characters, if the nonce looks random by
// its mix of cases and the metadata is surely a name.
func behindNonce(text string) string {
	if len(text) <= shortNonce || !base64URL().MatchString(text) {
		return ""
	}
	head, rest := text[:shortNonce], text[shortNonce:]
	if !strings.ContainsFunc(head, unicode.IsUpper) || !strings.ContainsFunc(head, unicode.IsLower) || !strings.ContainsAny(head, "0123456789-_") {
		return ""
	}
	s, ok := sight(rest, true)
	if !ok || len(s) != 1 || s[0].start != 0 || s[0].end != len(rest) || s[0].bits() < sureBehind || !s[0].begins() {
		return ""
	}
	return rest
}

// fields lists the fields of a JSON object that identify its writer, the clearest first.
var fields = []string{"label", "owner", "host", "hostname", "name", "node", "instance", "worker", "pod", "client", "user"}

func field(text string) string {
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) != nil {
		return ""
	}
	for _, key := range fields {
		if s, ok := object[key].(string); ok && Name(s) {
			return s
		}
	}
	return ""
}

// The characters in weak join the words of a part, those in strong join parts, like /, and those in dividing end a
// name.
const (
	weak     = "-._"
	strong   = ":@ "
	dividing = ",;|#"
)

// path splits a text at / into parts. Because base64 also has a /, ok is false unless all parts are names.
func path(text string) (atoms []atom, ok bool) {
	for p := range strings.SplitSeq(text, "/") {
		more, ok := part(p)
		if !ok {
			return nil, false
		}
		if len(atoms) > 0 {
			more[0].mark = '/'
		}
		atoms = append(atoms, more...)
	}
	return atoms, true
}

// run is a stretch of parts, each of which is a name.
type run struct {
	start, end int
	atoms      []atom
}

// sight finds the names in a text. all reports that the text is one name and nothing else. alone means that the caller
// accepts only that.
func sight(text string, alone bool) (runs []run, all bool) {
	if len(text) == 0 || len(text) > longest || !utf8.ValidString(text) {
		return nil, false
	}
	all = true
	var now run
	flush := func() {
		if len(now.atoms) > 0 {
			if now.believed(alone) {
				runs = append(runs, now)
			} else {
				all = false
			}
		}
		now = run{}
	}
	for at := 0; at <= len(text); at++ {
		n := strings.IndexAny(text[at:], strong+dividing)
		if n < 0 {
			n = len(text) - at
		}
		atoms, ok := path(text[at : at+n])
		switch {
		case ok:
			if now.atoms == nil {
				now.start = at
			}
			if len(now.atoms) > 0 {
				atoms[0].mark = text[at-1]
			}
			now.atoms, now.end = append(now.atoms, atoms...), at+n
		case alone:
			return nil, false
		default:
			all = false
			flush()
		}
		at += n
		if at < len(text) && (!alone || strings.IndexByte(dividing, text[at]) >= 0) {
			all = false
			flush()
		}
	}
	flush()
	return runs, all && len(runs) == 1
}

// believed reports whether no stretch of a name is likely to be random. A nonce may be a whole value, or have text
// before or after it, with or without a separator. The rarer such a place is, the less evidence is required.
func (r *run) believed(alone bool) bool {
	last := len(r.atoms) - 1
	for i := range r.atoms {
		w := window{beside: !alone}
		for j := i; j <= last && !r.atoms[j].form; j++ {
			w.add(&r.atoms[j], j > i)
			if w.length >= shortestLeak && w.bits() < r.asked(i, j, &w, alone) {
				return false
			}
			if w.length >= shortestSecret && i < j && r.doubtful(i, j) {
				return false
			}
		}
	}
	return !r.vague()
}

// doubtful reports whether a stretch of atoms has too little evidence if a nonce begins within its first atom or ends
// within its last.
func (r *run) doubtful(i, j int) bool {
	first, last := &r.atoms[i], &r.atoms[j]
	if !first.split && !last.split {
		return false
	}
	sure := 0.0
	if first.split {
		sure, i = sure+first.behind, i+1
	}
	if last.split {
		sure, j = sure+last.ahead, j-1
	}
	var w window
	for k := i; k <= j; k++ {
		w.add(&r.atoms[k], k > i)
	}
	return sure+w.bits() < sureDoubt
}

// asked returns the bits that a stretch of atoms must save.
func (r *run) asked(i, j int, w *window, alone bool) float64 {
	last, length := len(r.atoms)-1, w.length
	if i > 0 {
		length += r.atoms[i-1].reach(&r.atoms[i])
	}
	if j < last {
		length += r.atoms[j+1].reach(&r.atoms[j+1])
	}
	if length < shortestSecret {
		switch {
		case !alone:
			return sureBeside
		case w.cut:
			return sureEnd
		}
		return sureWindow
	}
	least := sureWhole
	switch {
	case i > 0 && j < last:
		least = sureInside
	case i > 0 || j < last:
		least = sureEdge
	}
	if w.length < shortestSecret {
		least -= sureSign
	}
	if r.atoms[i].glued {
		least -= sureGlued
	}
	if j < last && r.atoms[j+1].glued {
		least -= sureGlued
	}
	if !alone {
		least += moreBeside
	}
	return least
}

// vague reports whether two unknown abbreviations stand side by side.
func (r *run) vague() bool {
	for i := 1; i < len(r.atoms); i++ {
		if r.atoms[i-1].vague() && r.atoms[i].vague() {
			return true
		}
	}
	return false
}

// reach returns how many characters beside a stretch may belong to the same nonce: the separator, and a piece of the
// adjacent atom a if that has a cloud's form. second is the later atom at that boundary.
func (a *atom) reach(second *atom) int {
	switch {
	case a.form:
		return ofForm
	case second.glued:
		return 0
	}
	return 1
}

const (
	shortestLeak   = 8  // this many characters of a nonce in a row must not be shown
	shortestSecret = 12 // the shortest nonce
	ofForm         = 3  // this many characters of a cloud's form, with a separator, may belong to the nonce beside it
)

// bits returns the evidence that all of a run is a name.
func (r *run) bits() float64 {
	var w window
	named := false
	for i := range r.atoms {
		named = named || r.atoms[i].named
		w.add(&r.atoms[i], i > 0)
	}
	if !named {
		return 0
	}
	return w.bits()
}

// begins reports whether every beginning of a run is a name by its letters alone. Otherwise the beginning, with the
// separator after it, may be the end of a longer nonce.
func (r *run) begins() bool {
	var all, letters window
	for i := range r.atoms {
		a := &r.atoms[i]
		if a.form {
			break
		}
		all.add(a, i > 0)
		if a.has&digit == 0 {
			letters.add(a, i > 0)
		}
		switch bits := letters.bits(); {
		case all.length >= shortestSecret && bits < sureBehind, all.length >= shortestLeak-1 && bits < sureBeside:
			return false
		}
	}
	return true
}
