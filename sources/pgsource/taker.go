package pgsource

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"io"
	"strings"

	"coordtop/internal/ground/mask"
	"coordtop/sources"
)

// proof is a number that is equal in two looks, and not 0, if the grant of a row was the same all
// the time between them. A lock is taken and given up by a statement of its own session, each of which
// changes state_change, at its beginning and at its end. So it is proof that the session was idle when
// the locks were read, which is before its state was, and that its last change is the same. A
// background worker may do things without a word of its state. A prepared transaction owns what it
// owns until it is gone.
func (d *lookDiff) proof(r *lockRow) uint64 {
	h := fnv.New64a()
	write := func(numbers ...int64) uint64 {
		_ = binary.Write(h, binary.LittleEndian, numbers) // a hash takes all
		return h.Sum64()
	}
	s := d.after.sessions[r.pid]
	switch {
	case r.pid == 0:
		x := d.s.prepared[r.virtual]
		_, _ = io.WriteString(h, x.gid)
		return write(x.at)
	case s == nil, s.who.start == 0, s.does.changed == 0, s.who.kind != "client backend", !strings.HasPrefix(s.does.state, "idle"):
		return 0
	case d.s.clock.age(s.does.changed) <= max(d.s.clock.got.Sub(d.s.sent), settledAfter):
		return 0
	}
	return write(int64(s.pid), s.who.start, s.does.changed)
}

// nameOf returns the name of the program that took the lock, as far as it is known.
func (t *term) nameOf(s *session) string {
	if t.taker {
		return t.name
	}
	return s.name()
}

// label returns the name of an owner for the screen: both names, where it took the lock under another one.
func (t *term) label(s *session) string {
	if !t.taker || t.name == s.name() {
		return label(s.name(), s.pid)
	}
	return shownName(t.name) + ", now " + label(cmp.Or(s.name(), "unnamed"), s.pid)
}

func shownName(name string) string { return cmp.Or(mask.Text(name), "unnamed") }

// leak returns the attributes of a lock that was left behind in a pooled session. Where only the name has
// changed, the program may have changed it itself.
func (t *term) leak(s *session) []sources.Attr {
	renamed := t.name != s.name()
	var list []sources.Attr
	who, key := "who took it was not seen", sources.FirstSeenAs
	if t.took {
		key = sources.TakenBy
	}
	if t.taker {
		who = key + " " + shownName(t.name)
	}
	if renamed && t.taker {
		list = append(list, sources.Attr{Key: key, Value: shownName(t.name)})
	}
	if renamed {
		who += ", serves " + shownName(s.name()) + " now"
	}
	text := "leaked through a pooler: " + who + "; falls when the pooler closes it; ending it is safe while idle"
	switch {
	case s.lent:
	case renamed && t.taker:
		text = "either " + text + "; or the program that took it changed its own name"
	case renamed:
		text = "its session was named " + shownName(t.name) + " before: a pooler lends it, or its program changed its own name; " + who
	default:
		return nil
	}
	return append(list, sources.Attr{Key: sources.Leaked, Value: text, Odd: true})
}
