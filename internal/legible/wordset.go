package legible

import "iter"

// wordSet are the words of a text. A map of them takes four times as long to make, which every command
// that reads a name waits for.
type wordSet struct {
	text  string
	slots []int32 // where a word begins in text, from 1, at its hash or behind; 0: free
}

// newWordSet returns a set with room for so many words of text.
func newWordSet(text string, words int) *wordSet {
	size := 1
	for size < 2*words {
		size *= 2
	}
	return &wordSet{text: text, slots: make([]int32, size)}
}

// slot is where w is, or where it belongs.
func (s *wordSet) slot(w string) *int32 {
	hash := uint32(2166136261) // FNV-1a
	for i := range len(w) {
		hash = (hash ^ uint32(w[i])) * 16777619
	}
	for i := hash; ; i++ {
		p := &s.slots[i&uint32(len(s.slots)-1)]
		if *p == 0 || s.word(*p) == w {
			return p
		}
	}
}

// word is the word that begins there.
func (s *wordSet) word(at int32) string {
	begin := int(at) - 1
	end := begin
	for end < len(s.text) && s.text[end] > ' ' {
		end++
	}
	return s.text[begin:end]
}

// add takes in the word from begin to end of the text, and reports whether it is new.
func (s *wordSet) add(begin, end int) bool {
	p := s.slot(s.text[begin:end])
	if *p != 0 {
		return false
	}
	*p = int32(begin + 1)
	return true
}

func (s *wordSet) has(w string) bool { return *s.slot(w) != 0 }

// all yields the words in no order.
func (s *wordSet) all() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, at := range s.slots {
			if at != 0 && !yield(s.word(at)) {
				return
			}
		}
	}
}
