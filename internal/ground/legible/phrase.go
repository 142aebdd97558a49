package legible

import (
	"slices"
	"strings"

	"coordtop/internal/ground/lazy"
)

// fewPlain is from how many words on a text may be a passphrase, if none of them is usual in
// the names of programs, hosts and people.
const fewPlain = 3

// shortestJoined is the length of each of two words of a passphrase that are written as one.
const shortestJoined = 5

// everyday are words of frequent.txt that passphrases have as well; units are ends of names.
var (
	everyday = strings.Fields("blue green home house canary spark vault stream social root light live image video view")
	units    = strings.Fields("timer socket")
)

var (
	// ends are the signs between what is looked at by itself.
	ends = lazy.Regexp(`[:@/,;|#"={}]+`)
	// phraseLike are words with separators between them, and a number behind them or none.
	phraseLike = lazy.Regexp(`^[-._ ]*\pL+(?:[-._ ]+\pL+)*[-._ ]?\d{0,4}[-._ ]*$`)
	// wordLike is one of the words, by its capital too. What is shorter is an abbreviation.
	wordLike = lazy.Regexp(`\p{Lu}\p{Ll}{2,}|\p{Ll}{3,}|\p{Lu}{3,}`)
)

// phrases returns what of a text may be a passphrase: words that nothing makes a name. Many
// names of programs are two such words, hardly one is three.
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
			case strings.ContainsAny(w, "aeiouy") || !ascii(w): // no sign of a pod
				plain += words().joined(w)
			}
		}
		if !usual && plain+both >= fewPlain || plain >= fewPlain && !strings.Contains(s, ".") {
			list = append(list, s)
		}
	}
	return list
}

// joined returns 2 if w is two words of the list that are written as one, else 1.
func (d *dictionary) joined(w string) int {
	for i := shortestJoined; i+shortestJoined <= len(w) && !d.known[w]; i++ {
		if d.known[w[:i]] && d.known[w[i:]] {
			return 2
		}
	}
	return 1
}
