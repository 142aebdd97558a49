package legible

import (
	_ "embed" // for the word lists
	"iter"
	"math"
	"strings"
	"sync"
)

//go:embed words.txt
var wordList string

//go:embed frequent.txt
var frequentList string

// longestPair is the length of the longest text that is read as two words.
const longestPair = 20

// dictionary holds the lists of words, and the bits that it takes to pick a word out of those of its length.
type dictionary struct {
	known map[string]bool
	mixed map[string]bool          // words with digits
	often map[string]float64       // the most frequent words, with their bits
	one   [longestPair + 1]float64 // bits to pick one of the words of that length
	two   [longestPair + 1]float64 // the same for pairs of words with that total length
}

// Least lengths of two words that are written as one: of the shorter word, and of both.
const (
	shortestHalf = 2
	shortestPair = 6
)

var words = sync.OnceValue(func() *dictionary {
	d := &dictionary{known: make(map[string]bool, len(wordList)/7), mixed: map[string]bool{}, often: map[string]float64{}}
	var count, pairs, often [longestPair + 1]float64
	for w := range listed(frequentList) {
		if _, again := d.often[w]; !again {
			d.often[w] = 0
			often[len(w)]++
		}
	}
	for w := range d.often {
		d.often[w] = math.Log2(often[len(w)])
	}
	for _, list := range []string{frequentList, wordList} {
		for w := range listed(list) {
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

// listed yields the words of a list.
func listed(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(list) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			for w := range strings.FieldsSeq(line) {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// bits returns the cost of a word, or of a word with an s appended.
func (d *dictionary) bits(w string) (float64, bool) {
	often, frequent := d.often[w]
	switch n := len(w); {
	case n > longestPair:
		return 0, false
	case frequent:
		return kindWord + often, true
	case d.known[w]:
		return kindWord + d.one[n], true
	case n > shortestSpoken && w[n-1] == 's' && d.known[w[:n-1]]:
		return kindPlural + d.one[n-1], true
	}
	return 0, false
}

// initial returns the cost of a word with one letter before or after it, as in the login of a person or the name of a
// daemon.
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

// halves reports whether text may be a word and an end of a nonce without a separator between; a word of the lists
// cannot. ahead and behind are the bits that its beginning and its end save.
func (d *dictionary) halves(text string) (split bool, ahead, behind float64) {
	s := strings.ToLower(text)
	if _, ok := d.bits(s); ok {
		return false, 0, 0
	}
	if !oneCase(text) {
		first, last := capitals(text)
		return true, max(0, d.half(s[:first])), max(0, d.half(s[last:]))
	}
	for i := shortestHalf; i+shortestHalf <= len(s) && len(s) <= longestPair; i++ {
		if d.known[s[:i]] && d.known[s[i:]] {
			a, b := d.half(s[:i]), d.half(s[i:])
			if !split || min(a, b) < min(ahead, behind) {
				split, ahead, behind = true, a, b
			}
		}
	}
	return true, max(0, ahead), max(0, behind)
}

// half returns the bits saved by one of two words that are written as one.
func (d *dictionary) half(w string) float64 {
	if len(w) > longestPair {
		return 0
	}
	cost := d.one[len(w)]
	if often, ok := d.often[w]; ok {
		cost = often
	}
	return bitsOfLetter*float64(len(w)) - kindPair - cost
}

// capitals returns where the second and the last of several words begin, if capitals separate the words.
func capitals(s string) (second, last int) {
	for i := 1; i < len(s); i++ {
		begins := isCapital(s[i]) && (!isCapital(s[i-1]) || i+1 < len(s) && !isCapital(s[i+1]))
		if begins && second == 0 {
			second = i
		}
		if begins {
			last = i
		}
	}
	return second, last
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }
