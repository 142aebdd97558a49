package pgsource

import (
	"testing"
	"time"
)

func TestOneTraceThatFitsManyLocksTellsNothing(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	const query = "select pg_try_advisory_lock($1)"
	try := func(pid uint32) activity {
		a := b.at(pid, b.now.Add(-time.Hour))
		a.does.query, a.does.queried = query, b.theirs(b.now)
		return a
	}
	var rows []lockRow
	for i := range tryKnown {
		rows = append(rows, owns(int64(i), 1, exclusive))
	}
	n := b.look(rows, try(1), try(2))
	for name, p := range published(n) {
		if queue(p.Candidates) != "2" {
			t.Errorf("%s: candidates %s", name, queue(p.Candidates))
		}
	}
	rows = append(rows, owns(tryKnown, 1, exclusive))
	for name, p := range published(b.look(rows, try(1), try(2))) {
		if len(p.Candidates) != 0 {
			t.Errorf("%s: candidates %s", name, queue(p.Candidates))
		}
	}
}

func TestTryOfLongAgoIsNoCandidate(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	a := b.at(2, b.now)
	a.does.query, a.does.queried = "select pg_try_advisory_lock(7)", b.theirs(b.now)
	rows := func() []lockRow { return []lockRow{owns(7, 1, exclusive)} }
	if p := published(b.look(rows(), b.at(1, b.now), a))["7"]; queue(p.Candidates) != "2" {
		t.Errorf("candidates %s", queue(p.Candidates))
	}
	b.now = b.now.Add(tryRecent)
	if p := published(b.look(rows(), b.at(1, b.now.Add(-tryRecent)), a))["7"]; p == nil || len(p.Candidates) != 0 {
		t.Errorf("%+v", p)
	}
}
