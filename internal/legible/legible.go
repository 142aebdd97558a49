package legible

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is the length in bytes up to which a value is searched for a name.
const longest = 256

// Name reports whether the whole text is positively a name.
func Name(text string) bool {
	if isAddress(text) {
		return true
	}
	s, ok := sight(text, true)
	return ok && len(s) == 1 && s[0].start == 0 && s[0].end == len(text)
}

// Part returns what of a value is positively a name, though not all of it is: the surest
// stretch between : @ / , ; | # and blanks; of a JSON object the first field that says who
// it is. "": nothing.
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
	best, found := 0.0, ""
	pieces := []string{text}
	if strings.Count(text, "-") >= 4 {
		pieces = uuid.Split(text, -1)
	}
	for _, piece := range pieces {
		if len(piece) < len(text) {
			piece = strings.Trim(piece, weak+"/")
		}
		runs, _ := sight(piece, false)
		for _, r := range runs {
			if bits := r.bits(); bits >= surePart && bits > best {
				best, found = bits, piece[r.start:r.end]
			}
		}
	}
	return found
}

// Bits of evidence that are asked for.
const (
	sureStretch   = 21.0 // for 12 characters and more: a nonce of 12 may be all of them
	sureWindow    = 6.0  // for 8 to 11
	sureEnd       = 4.0  // as sureWindow, with an end without meaning
	sureBesideAll = 24.0 // as sureStretch, where something beside it is not shown
	sureBeside    = 14.0 // as sureWindow, where something beside it is not shown
	surePart      = 6.0  // for what is shorter and stands beside something that is not shown
	sureBehind    = 20.0 // for what stands directly behind a nonce, without a sign between them
)

// uuid is a UUID of any version. It is a nonce wherever it stands, so it ends what is
// before and behind it.
var uuid = regexp.MustCompile(`[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`)

// shortNonce is the length of what bsm/redislock writes directly before its metadata: 16
// bytes in base64url.
const shortNonce = 22

var base64URL = regexp.MustCompile(`^[A-Za-z0-9_-]{22}`)

// behindNonce returns the metadata that stands directly behind a nonce of 22 characters, if
// that nonce is random by its cases and the metadata is surely a name.
func behindNonce(text string) string {
	if len(text) <= shortNonce || !base64URL.MatchString(text) {
		return ""
	}
	head, rest := text[:shortNonce], text[shortNonce:]
	if !strings.ContainsFunc(head, unicode.IsUpper) || !strings.ContainsFunc(head, unicode.IsLower) || !strings.ContainsAny(head, "0123456789-_") {
		return ""
	}
	s, ok := sight(rest, false)
	if !ok || len(s) != 1 || s[0].start != 0 || s[0].end != len(rest) || s[0].bits() < sureBehind {
		return ""
	}
	return rest
}

// fields of a JSON object that say who wrote it, the clearest first.
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

// weak are the signs that join the words of a part, strong those that join parts, as / does,
// and dividing those that end a name.
const (
	weak     = "-._"
	strong   = ":@ "
	dividing = ",;|#"
)

// path takes parts with / between them apart. Since base64 has a / too, either all of them are
// names or none is.
func path(text string) (atoms []atom, ok bool) {
	for p := range strings.SplitSeq(text, "/") {
		more, ok := part(p)
		if !ok {
			return nil, false
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

// sight finds the names in a text. all reports whether there was nothing else in it. alone
// says that the text is taken for a name only if all of it is one.
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
			atoms[0].apart = len(now.atoms) > 0 && text[at-1] != ' '
			now.atoms, now.end = append(now.atoms, atoms...), at+n
		case alone:
			return nil, false
		default:
			all = false
			flush()
		}
		at += n
		if at < len(text) && strings.IndexByte(dividing, text[at]) >= 0 {
			all = false
			flush()
		}
	}
	flush()
	return runs, all && len(runs) == 1
}

// believed reports whether no stretch of a name is likely to be random.
func (r *run) believed(alone bool) bool {
	window8, window12 := sureBeside, sureBesideAll
	if alone {
		window8, window12 = sureWindow, sureStretch
	}
	for i := range r.atoms {
		var w window
		for j := i; j < len(r.atoms) && !r.atoms[j].form; j++ {
			w.add(&r.atoms[j], j > i)
			least := 0.0
			switch {
			case w.length >= shortestSecret:
				least = window12
			case w.length >= shortestLeak && w.cut && alone:
				least = sureEnd
			case w.length >= shortestLeak:
				least = window8
			default:
				continue
			}
			if w.bits() < least {
				return false
			}
		}
	}
	return true
}

const (
	shortestLeak   = 8  // so many characters of a nonce in a row must not be shown
	shortestSecret = 12 // a nonce has so many at least
)

// bits is the evidence that all of a run is a name.
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
