package redissource

import (
	"fmt"

	"coordtop/internal/format"
	"coordtop/sources"
)

// Bounds of what one server can make a source keep, whatever a scan lists or a push names.
// A key takes some 2 kB in the whole program, twice that with what the collector leaves
// lying: 20,000 keys, which are about as many as there is room for, some 100 MB.
const (
	mostKept    = 22 << 20
	keptForAKey = 1 << 10  // beside name and data: rows, owners, history
	longestName = 16 << 10 // of a key that is shown
	mostScanned = 50_000_000
	mostNotices = 100_000 // keys that were pushed and not read yet
)

// room is how much of it is taken.
type room struct {
	kept int
	full bool // something did not find room
	long bool // a name was too long
}

// costOf is what a key takes.
func costOf(name string, p *sources.Primitive) int {
	cost := keptForAKey + len(name)
	if p != nil {
		for _, o := range p.Owners {
			cost += len(o.ID) + len(o.Label) + len(o.Data.Head)
		}
	}
	return cost
}

// countRoom counts what the keys of an earlier link take.
func (w *watcher) countRoom() {
	w.room = room{}
	for name, k := range w.keys {
		w.room.kept += costOf(name, k.shown)
	}
}

// fits reports whether there is room for a key that is not known yet.
func (w *watcher) fits(name string) bool {
	switch {
	case len(name) > longestName:
		w.room.long = true
		return false
	case w.room.kept+costOf(name, nil) > mostKept:
		w.room.full = true
		return false
	}
	return true
}

// makeRoom counts what p takes instead of old, and keeps less of its data where there is no
// room for more.
func (w *watcher) makeRoom(old, p *sources.Primitive) {
	had := 0
	if old != nil {
		had = costOf(p.Name, old)
	}
	if more := costOf(p.Name, p) - had; w.room.kept+more > mostKept && more > 0 {
		for i := range p.Owners {
			p.Owners[i].Data.Head = ""
		}
		w.room.full = true
	}
	w.room.kept += costOf(p.Name, p) - had
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
