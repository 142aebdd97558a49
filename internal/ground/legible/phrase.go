package legible

import (
	"slices"
	"strings"

	"coordtop/internal/ground/lazy"
)

// fewPlain is the least number of words of a passphrase; none of them is usual in the names of programs, hosts and
// people.
const fewPlain = 3

// shortestJoined is the least length of each of two words of a passphrase that are written as one.
const shortestJoined = 5

// everyday lists words of frequent.txt that are also common in passphrases; units lists usual ends of names.
var (
	everyday = strings.Fields("blue green home house canary spark vault stream social root light live image video view")
	units    = strings.Fields("timer socket")
)

var (
	// ends matches the characters at which a text is split; the parts are examined separately.
	ends = lazy.Regexp(`[:@/,;|#"={}]+`)
	// phraseLike matches words with separators between them, with or without a number at the end.
	phraseLike = lazy.Regexp(`^[-._ ]*\pL+(?:[-._ ]+\pL+)*[-._ ]?\d{0,4}[-._ ]*$`)
	// wordLike matches one word; a capital begins a new one. Shorter texts are abbreviations.
	wordLike = lazy.Regexp(`\p{Lu}\p{Ll}{2,}|\p{Ll}{3,}|\p{Lu}{3,}`)
)

// phrases returns the parts of a text that may be passphrases: words without evidence of a name. Many names of programs
// have two such words, hardly any has three.
func phrases(text string) (list []string) {
	for _, s := range ends().Split(text, -1) {
		if !phraseLike().MatchString(s) {
			continue
		}
		plain, both, usual := 0, 0, false
		for _, w := range wordLike().FindAllString(s, -1) {
			w = strings.ToLower(w)
			_, often := words().often[w]
			switch {
			case slices.Contains(everyday, w):
				both++
			case often, slices.Contains(units, w):
				usual = true
			case strings.ContainsAny(w, "aeiouy") || !ascii(w): // a pod's random end has no vowels
				plain += words().joined(w)
			}
		}
		if !usual && plain+both >= fewPlain || plain >= fewPlain && !strings.Contains(s, ".") {
			list = append(list, s)
		}
	}
	return list
}

// joined returns 2 if w is two words of the lists written as one, otherwise 1.
func (d *dictionary) joined(w string) int {
	for i := shortestJoined; i+shortestJoined <= len(w) && !d.known[w]; i++ {
		if d.known[w[:i]] && d.known[w[i:]] {
			return 2
		}
	}
	return 1
}
