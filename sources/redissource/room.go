package redissource

import (
	"fmt"

	"coordtop/internal/format"
	"coordtop/sources"
)

// Bounds of what one server can make a source keep, whatever a scan lists or a push names.
// A key takes some 2 kB in the whole program, twice that with what the collector leaves
// lying. Of what is guessed, where nobody said that there is more, so many are kept as cost
// some 100 MB with what a scan leaves; of keys that a person named, also by patterns, so many
// as can be tracked one by one. Names and values are bounded by the same number of bytes for
// both, which long ones reach first.
const (
	mostGuessed = 12_000
	mostNamed   = mostTracked
	mostText    = 22 << 20 // bytes of names, owners and their data
	longestName = 16 << 10 // of a key that is shown
	mostScanned = 50_000_000
	mostNotices = 100_000 // keys that were pushed and not read yet
)

// room is how much of it is taken.
type room struct {
	keys, text int
	full       bool // something did not find room
	long       bool // a name was too long
}

// textOf is how many bytes of names and values a key takes.
func textOf(name string, p *sources.Primitive) int {
	n := len(name)
	if p != nil {
		for _, o := range p.Owners {
			n += len(o.ID) + len(o.Label) + len(o.Data.Head)
		}
	}
	return n
}

// countRoom counts what the keys of an earlier link take.
func (w *watcher) countRoom() {
	w.room = room{keys: len(w.keys)}
	for name, k := range w.keys {
		w.room.text += textOf(name, k.shown)
	}
}

// mostKeys is how many keys are kept.
func (s *selection) mostKeys() int {
	if s.guess {
		return mostGuessed
	}
	return mostNamed
}

// fits reports whether there is room for a key that is not known yet.
func (w *watcher) fits(name string) bool {
	switch {
	case len(name) > longestName:
		w.room.long = true
		return false
	case w.room.keys >= w.selected.mostKeys(), w.room.text+len(name) > mostText:
		w.room.full = true
		return false
	}
	return true
}

// makeRoom counts what p takes instead of old, nil where it is new, and keeps less of its data
// where there is no room for more.
func (w *watcher) makeRoom(old, p *sources.Primitive) {
	had := 0
	if old != nil {
		had = textOf(p.Name, old)
	} else {
		w.room.keys++
	}
	if more := textOf(p.Name, p) - had; w.room.text+more > mostText && more > 0 {
		for i := range p.Owners {
			p.Owners[i].Data.Head = ""
		}
		w.room.full = true
	}
	w.room.text += textOf(p.Name, p) - had
}

// leaveRoom takes back what a key took.
func (r *room) leaveRoom(k *key) {
	r.keys--
	r.text -= textOf(k.name, k.shown)
}

// warnings says what is not shown.
func (r room) warnings(keys int) []string {
	var list []string
	if r.full {
		list = append(list, fmt.Sprintf("there are more keys than one source may keep: %s are shown; narrow the pattern, or make sources of parts of it", format.Count(keys)))
	}
	if r.long {
		list = append(list, fmt.Sprintf("keys with names of more than %s bytes are not shown", format.Count(longestName)))
	}
	return list
}
