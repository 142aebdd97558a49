package pgsource

import (
	"cmp"

	"coordtop/sources"
)

// childProcesses identifies the children of a server's postmaster. When a child crashes, the postmaster ends all
// sessions and recovers without changing its own start, but it starts a new checkpointer and drops the statistics. The
// start of the checkpointer is hidden from roles without pg_monitor, and the statistics can be reset by hand. A field
// is "" if it is not reported.
type childProcesses struct{ checkpointer, statistics string }

// crashedSince reports whether the server crashed between two answers.
func (c childProcesses) crashedSince(before childProcesses) bool {
	if c.checkpointer != "" && before.checkpointer != "" {
		return c.checkpointer != before.checkpointer
	}
	return c.statistics != "" && before.statistics != "" && c.statistics != before.statistics
}

// became describes what happened between the last incarnation and this one. The zero value means that the server was
// restarted.
type became struct {
	text string
	how  sources.Known
}

// incarnationOf returns the incarnation of the server that answers now, and what happened since the last one.
func (t *lockTable) incarnationOf(s *server) (string, became) {
	was, now := t.server, s.incarnation()
	switch {
	case was == nil:
		return now, became{}
	case now != was.incarnation():
		return now, t.becameOf(was, s)
	case s.children.crashedSince(was.children):
		return now + ", recovered " + cmp.Or(s.children.checkpointer, s.children.statistics), became{"crash recovery", sources.Inferred}
	}
	return t.incarnation, t.became
}

// becameOf distinguishes a server that was restarted from another one. If the server was already running when the last
// one answered, it is another server, not a restart.
func (t *lockTable) becameOf(was, s *server) became {
	ran := s.started <= t.answered
	switch other := was.system != "" && s.system != "" && was.system != s.system; {
	case s.address != was.address && (ran || other):
		return became{"another server: " + s.address, sources.Told}
	case ran || other:
		return became{"another server answers at " + s.address, sources.Inferred}
	case s.address != was.address: // it was restarted, or is the same server under another name
		return became{"another server: " + s.address, sources.Inferred}
	}
	return became{}
}
