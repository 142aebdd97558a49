package legible

import (
	_ "embed" // of the words
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

// dictionary is the list of words with the bits that it takes to name one of a length.
type dictionary struct {
	known *wordSet
	mixed map[string]bool          // those of them with digits
	often map[string]float64       // the most frequent words, with their bits
	one   [longestPair + 1]float64 // of the words of that length
	two   [longestPair + 1]float64 // of the pairs of words of that length together
}

// Lengths of two words that are written as one: of the shorter one, and of both.
const (
	shortestHalf = 2
	shortestPair = 6
)

var words = sync.OnceValue(func() *dictionary {
	text := frequentList + "\n" + wordList
	d := &dictionary{known: newWordSet(text, len(text)/7), mixed: map[string]bool{}, often: map[string]float64{}}
	var count, pairs, often [longestPair + 1]float64
	for begin, end := range listed(frequentList) {
		w := frequentList[begin:end]
		if _, again := d.often[w]; !again {
			d.often[w] = 0
			often[len(w)]++
		}
	}
	for w := range d.often {
		d.often[w] = math.Log2(often[len(w)])
	}
	for begin, end := range listed(text) {
		if !d.known.add(begin, end) {
			continue
		}
		if w := text[begin:end]; strings.IndexFunc(w, func(r rune) bool { return isDigit(byte(r)) }) >= 0 {
			d.mixed[w] = true
			continue
		}
		count[end-begin]++
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

// listed yields where the words of a list begin and end.
func listed(list string) iter.Seq2[int, int] {
	return func(yield func(begin, end int) bool) {
		for at := 0; at < len(list); {
			switch {
			case list[at] == '#' && (at == 0 || list[at-1] == '\n'):
				at = lineEnd(list, at)
			case list[at] <= ' ':
				at++
			default:
				begin := at
				for at < len(list) && list[at] > ' ' {
					at++
				}
				if !yield(begin, at) {
					return
				}
			}
		}
	}
}

// lineEnd is where the line of at ends.
func lineEnd(list string, at int) int {
	if n := strings.IndexByte(list[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(list)
}

// bits is what it costs to name a word, or a word with an s behind it.
func (d *dictionary) bits(w string) (float64, bool) {
	often, frequent := d.often[w]
	switch n := len(w); {
	case n > longestPair:
		return 0, false
	case frequent:
		return kindWord + often, true
	case d.known.has(w):
		return kindWord + d.one[n], true
	case n > shortestSpoken && w[n-1] == 's' && d.known.has(w[:n-1]):
		return kindPlural + d.one[n-1], true
	}
	return 0, false
}

// initial returns what it costs to name a word with one letter before or behind it, as the
// login of a person or the name of a daemon has it.
func (d *dictionary) initial(s string) (float64, bool) {
	n := len(s)
	if n < shortestPair || n > longestPair || !d.known.has(s[1:]) && !d.known.has(s[:n-1]) {
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
		if d.known.has(s[:i]) && d.known.has(s[i:]) {
			return true
		}
	}
	return false
}

// halves says of a word whether it may be text directly before or behind the end of a nonce: not
// if it is one word of the list. ahead and behind are what its beginning and its end save.
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
		if d.known.has(s[:i]) && d.known.has(s[i:]) {
			a, b := d.half(s[:i]), d.half(s[i:])
			if !split || min(a, b) < min(ahead, behind) {
				split, ahead, behind = true, a, b
			}
		}
	}
	return true, max(0, ahead), max(0, behind)
}

// half is what a word saves that is written as one with another.
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

// capitals returns where the second and where the last of several words begin that are told apart
// by their capitals.
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
