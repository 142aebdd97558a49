package redissource

import (
	"fmt"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// The bounds of the memory that one server can make a source use, by a scan or by pushes. A key needs some 1.5 kB in
// the whole program, twice that with garbage that is not yet collected. The guessed keys and the garbage of a scan need
// at most some 100 MB. More keys are kept if they are configured, even by patterns. Keys that are tracked one by one
// also need room in a table that all clients of the server share. The bytes of names and values have a bound of their
// own, for long ones.
const (
	mostGuessed = 12_000
	mostNamed   = 100_000
	mostText    = 22 << 20 // bytes of names, owners and their data
	longestName = 16 << 10 // bytes of a shown key's name
	mostWhole   = 20_000   // keys whose row is kept as a whole: other keys are interpreted again at each renewal
	mostScanned = 50_000_000
	mostNotices = 100_000 // keys that were pushed and not read yet
)

// capacity counts the kept keys and their bytes against these bounds.
type capacity struct {
	most       int // maximum number of kept keys
	keys, text int
	full       bool // some key or value was left out
	long       bool // a name was too long
}

// newCapacity returns a capacity that counts the keys of an earlier link.
func newCapacity(s *selection, keys map[string]*key) capacity {
	c := capacity{most: mostNamed, keys: len(keys)}
	if s.guess {
		c.most = mostGuessed
	}
	for name, k := range keys {
		c.text += len(name) + k.shown.text
	}
	return c
}

// textOf returns the number of bytes in the IDs, labels and data of the owners.
func textOf(p *sources.Primitive) (n int) {
	for i := range p.Owners {
		o := &p.Owners[i]
		n += len(o.ID) + len(o.Label) + len(o.Data.Head)
	}
	return n
}

// fits reports whether there is room for a key that is not known yet.
func (c *capacity) fits(name string) bool {
	switch {
	case len(name) > longestName:
		c.long = true
		return false
	case c.keys >= c.most, c.text+len(name) > mostText:
		c.full = true
		return false
	}
	return true
}

// replace counts p instead of old, and drops the data of p if there is no room for it. It returns textOf(p).
func (c *capacity) replace(old *facts, p *sources.Primitive) int {
	more := textOf(p) - old.text
	if old.all == 0 {
		c.keys++
		more += len(p.Name)
	}
	if c.text+more > mostText && more > 0 {
		for i := range p.Owners {
			more -= len(p.Owners[i].Data.Head)
			p.Owners[i].Data.Head = ""
		}
		c.full = true
	}
	c.text += more
	return textOf(p)
}

// remove subtracts a key that is dropped.
func (c *capacity) remove(k *key) {
	c.keys--
	c.text -= len(k.name) + k.shown.text
}

func (c *capacity) warnings(keys int) []string {
	var list []string
	if c.full {
		list = append(list, fmt.Sprintf("there are more keys than one source may keep: %s are shown; narrow the pattern, or make sources of parts of it", format.Count(keys)))
	}
	if c.long {
		list = append(list, fmt.Sprintf("keys with names of more than %s bytes are not shown", format.Count(longestName)))
	}
	return list
}
