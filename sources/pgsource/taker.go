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

// proof returns a number that is equal in two looks, and not 0, only if the grant of a row stayed the same between
// them. A lock is acquired and released by statements of its own session, and each statement changes state_change at
// its beginning and its end. So it proves the grant if the session was idle when the locks were read (its state is read
// later) and state_change is the same. There is no proof for a background worker, because it may work without changing
// its state. A prepared transaction owns its locks until it is gone.
func (d *lookDiff) proof(r *lockRow) uint64 {
	h := fnv.New64a()
	write := func(numbers ...int64) uint64 {
		_ = binary.Write(h, binary.LittleEndian, numbers) // never fails
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

// label returns the name of an owner for the screen: both names, if it acquired the lock under another one.
func (t *term) label(s *session) string {
	if !t.taker || t.name == s.name() {
		return label(s.name(), s.pid)
	}
	return shownName(t.name) + ", now " + label(cmp.Or(s.name(), "unnamed"), s.pid)
}

func shownName(name string) string { return cmp.Or(mask.Text(name), "unnamed") }

// leak returns the attributes of a lock that was left behind in a pooled session. If only the name has changed, the
// program may have changed it itself.
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
