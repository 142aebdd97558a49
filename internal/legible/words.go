package legible

import (
	_ "embed" // of the words
	"math"
	"strings"
	"sync"
)

//go:embed words.txt
var wordList string

// longestPair is the length of the longest text that is read as two words.
const longestPair = 20

// dictionary is the list of words with the bits that it takes to name one of a length.
type dictionary struct {
	known map[string]bool
	mixed map[string]bool          // those of them with digits
	one   [longestPair + 1]float64 // of the words of that length
	two   [longestPair + 1]float64 // of the pairs of words of that length together
}

// Lengths of two words that are written as one: of the shorter one, and of both.
const (
	shortestHalf = 2
	shortestPair = 6
)

var words = sync.OnceValue(func() *dictionary {
	d := &dictionary{known: map[string]bool{}, mixed: map[string]bool{}}
	var count, pairs [longestPair + 1]float64
	for line := range strings.Lines(wordList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			if d.known[w] {
				continue
			}
			d.known[w] = true
			if strings.ContainsAny(w, "0123456789") {
				d.mixed[w] = true
				continue
			}
			count[len(w)]++
		}
	}
	for a := shortestHalf; a <= longestPair; a++ {
		for b := max(shortestHalf, shortestPair-a); a+b <= longestPair; b++ {
			pairs[a+b] += count[a] * count[b]
		}
	}
	for n := range count {
		d.one[n], d.two[n] = math.Log2(max(count[n], 1)), math.Log2(max(pairs[n], 1))
	}
	return d
})

// bits is what it costs to name a word, or a word with an s behind it.
func (d *dictionary) bits(w string) (float64, bool) {
	switch n := len(w); {
	case n > longestPair:
		return 0, false
	case d.known[w]:
		return kindWord + d.one[n], true
	case n >= shortestSpoken && w[n-1] == 's' && d.known[w[:n-1]]:
		return kindPlural + d.one[n-1], true
	}
	return 0, false
}

// initial returns what it costs to name a word with one letter before or behind it, as the
// login of a person or the name of a daemon has it.
func (d *dictionary) initial(s string) (float64, bool) {
	n := len(s)
	if n < shortestPair || n > longestPair || !d.known[s[1:]] && !d.known[s[:n-1]] {
		return 0, false
	}
	return kindInitial + bitsOfLetter + d.one[n-1], true
}

// pair reports whether two words make up s.
func (d *dictionary) pair(s string) bool {
	if len(s) < shortestPair || len(s) > longestPair {
		return false
	}
	for i := shortestHalf; i+shortestHalf <= len(s); i++ {
		if d.known[s[:i]] && d.known[s[i:]] {
			return true
		}
	}
	return false
}
