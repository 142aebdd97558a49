package legible

import (
	"math"
	"sync"
)

// letters holds the likelihood of a letter after two others in a word, as the bits saved against a random letter. The
// indexes are the two letters before it (0: the beginning of the word) and the letter.
type letters [27][27][26]float32

// Weights, in numbers of words: of the statistics over one preceding letter when they are mixed into those over two,
// and of the letter's own frequency when it is mixed into those over one.
const (
	weightOfOne  = 5
	weightOfNone = 5
)

// alphabet is the number of letters.
const alphabet = 26

var letterModel = sync.OnceValue(func() *letters {
	var none [alphabet]float64
	var one [27][alphabet]float64
	var two [27][27][alphabet]float64
	total := 0.0
	for w := range words().known {
		if len(w) < shortestSpoken || words().mixed[w] {
			continue
		}
		a, b := 0, 0
		for i := range len(w) {
			c := int(w[i] - 'a')
			none[c]++
			one[b][c]++
			two[a][b][c]++
			total++
			a, b = b, c+1
		}
	}
	m := new(letters)
	for a := range 27 {
		for b := range 27 {
			ofOne, ofTwo := 0.0, 0.0
			for c := range alphabet {
				ofOne += one[b][c]
				ofTwo += two[a][b][c]
			}
			for c := range alphabet {
				p := (none[c] + 1) / (total + alphabet)
				p = (one[b][c] + weightOfNone*p) / (ofOne + weightOfNone)
				p = (two[a][b][c] + weightOfOne*p) / (ofTwo + weightOfOne)
				m[a][b][c] = float32(math.Log2(p * alphabet))
			}
		}
	}
	return m
})

// saved returns the number of bits saved by reading s, of lower-case letters, as a word. At most one of 2^saved texts
// of its length saves as much.
func (m *letters) saved(s string) float64 {
	bits := float32(0)
	a, b := 0, 0
	for i := range len(s) {
		c := int(s[i] - 'a')
		bits += m[a][b][c]
		a, b = b, c+1
	}
	return float64(bits)
}
