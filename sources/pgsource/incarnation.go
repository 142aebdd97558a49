package pgsource

import (
	"cmp"

	"coordtop/sources"
)

// childProcesses identifies the children of a server's postmaster. When one of them crashes, the
// postmaster ends all sessions and recovers, and its own start stays as it was; but it starts
// another checkpointer, and drops its statistics. The start of the checkpointer is hidden from
// roles without pg_monitor, and the statistics can be reset by hand. "": not reported.
type childProcesses struct{ checkpointer, statistics string }

// crashedSince reports whether a crash lies between two answers of one server.
func (c childProcesses) crashedSince(before childProcesses) bool {
	if c.checkpointer != "" && before.checkpointer != "" {
		return c.checkpointer != before.checkpointer
	}
	return c.statistics != "" && before.statistics != "" && c.statistics != before.statistics
}

// became describes the change from the incarnation before to this one. The zero value: the server was
// restarted.
type became struct {
	text string
	how  sources.Known
}

// incarnationOf returns the incarnation of the server that answers now, and what became of the one before.
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

// becameOf distinguishes a server that was restarted from another one. One that ran already when the other one
// answered last was not restarted since.
func (t *lockTable) becameOf(was, s *server) became {
	ran := s.started <= t.answered
	switch other := was.system != "" && s.system != "" && was.system != s.system; {
	case s.address != was.address && (ran || other):
		return became{"another server: " + s.address, sources.Told}
	case ran || other:
		return became{"another server answers at " + s.address, sources.Inferred}
	case s.address != was.address: // it has been restarted meanwhile, or is the same under another name
		return became{"another server: " + s.address, sources.Inferred}
	}
	return became{}
}
