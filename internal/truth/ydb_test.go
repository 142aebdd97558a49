package truth

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"coordtop/internal/emulator/ydbtest"
)

const ydbNode = "/local/app"

// ydbActor is many sessions of a coordination node of the emulator, which own and await
// semaphores. The truth is read out of the emulator itself: see ydbRecorder.
type ydbActor struct {
	*trial
	*ydbRecorder
	conn  *grpc.ClientConn
	rows  []*ydbRow
	all   []*ydbSession
	made  int
	round int
}

type ydbRow struct {
	name  string
	kind  string
	limit uint64 // allOf: it is ephemeral
}

func TestLinesOfYDBAreTrue(t *testing.T) {
	t.Parallel()
	server, err := ydbtest.Start(ydbtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateNode(ydbNode); err != nil {
		t.Fatal(err)
	}
	r := newTrial(t, server.Endpoint(0))
	conn, err := grpc.NewClient("passthrough:///"+server.Endpoint(1), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	a := &ydbActor{trial: r, ydbRecorder: newYDBRecorder(server, r.history), conn: conn}
	t.Cleanup(a.quit)
	rules := rules{proved: true, queue: 5 * time.Second, special: map[string]special{}}
	url := "grpc://" + r.proxy.Addr() + "/local?node=" + ydbNode
	for i := range 12 {
		row := &ydbRow{name: fmt.Sprintf("leader-%d", i), kind: "election", limit: 1}
		switch i % 4 {
		case 2:
			row = &ydbRow{name: fmt.Sprintf("permits-%d", i), kind: "semaphore", limit: 3}
			rules.special[row.name] = special{several: true}
		case 3:
			row = &ydbRow{name: fmt.Sprintf("lock-%d", i), kind: "mutex", limit: allOf}
			rules.special[row.name] = special{interval: time.Second} // does not exist while nobody owns it
		}
		if row.limit != allOf {
			a.create(row)
		}
		a.rows = append(a.rows, row)
		url += "&" + row.kind + "=" + row.name
	}
	for i := range 8 {
		a.all = append(a.all, a.open())
		if i < 3 {
			a.all[i].acquire(a.rows[i], 1, 0, a.all[i].data(0))
		}
	}
	a.record()
	for row := range r.history.rows {
		for i := range r.history.rows[row] {
			r.history.rows[row][i].first = true
		}
	}
	r.harm = a.faults()
	a.start(5*time.Millisecond, a.record)
	r.run(a, url, false, rules)
}

// faults are those of the service.
func (a *ydbActor) faults() []fault {
	must := func(f func() error) func() {
		return func() {
			if err := f(); err != nil {
				a.t.Fatal(err)
			}
		}
	}
	return []fault{
		{"the tablet restarts", must(func() error { return a.server.RestartTablet(ydbNode) }), false, false},
		{"all streams break", a.server.CutStreams, false, false},
		{"the tablet forgets the front end", must(func() error { return a.server.LoseRegistration(0, ydbNode) }), false, false},
		{"three descriptions are lost", func() { a.server.DropReplies("describe_semaphore_result", 3) }, false, false},
	}
}

func (a *ydbActor) create(row *ydbRow) {
	a.t.Helper()
	if err := a.server.CreateSemaphore(ydbNode, row.name, row.limit, nil); err != nil {
		a.t.Fatal(err)
	}
}

func (a *ydbActor) open() *ydbSession {
	a.t.Helper()
	a.made++
	s := &ydbSession{t: a.t, conn: a.conn, label: fmt.Sprintf("worker-%d", a.made), ttl: 20 * time.Second}
	if a.random.IntN(3) == 0 {
		s.ttl = some(a.random, time.Second, 3*time.Second)
	}
	s.attach()
	a.t.Cleanup(s.drop)
	return s
}

// replace opens another session in the place of one.
func (a *ydbActor) replace(s *ydbSession) { a.all[slices.Index(a.all, s)] = a.open() }

// do acts and records what came of it.
func (a *ydbActor) do(act func()) {
	a.record()
	act()
	a.record()
}

func (a *ydbActor) step() {
	for _, s := range slices.Clone(a.all) { // the service may have ended their streams
		if s.over() && !s.attach() {
			a.replace(s)
		}
	}
	row := a.rows[a.random.IntN(len(a.rows))]
	s := a.all[a.random.IntN(len(a.all))]
	sem, err := a.server.Semaphore(ydbNode, row.name)
	n := a.random.IntN(100)
	a.do(func() {
		switch owns, waits := mine(sem.Owners, s), mine(sem.Waiters, s); {
		case err != nil && row.limit != allOf:
			a.create(row)
		case n < 5:
			a.end(s, n)
		case n < 7 && row.limit != allOf:
			a.delete(row)
		case n < 11 && err == nil:
			a.write(row)
		case owns != nil && n < 30:
			a.proclaim(row, s, owns)
		case owns != nil && n < 40: // given up and taken again
			s.release(row)
			a.take(row, s)
		case owns != nil, waits != nil:
			s.release(row)
		default:
			a.take(row, s)
		}
	})
}

func mine(list []ydbtest.Link, s *ydbSession) *ydbtest.Link {
	for i := range list {
		if list[i].SessionID == s.id {
			return &list[i]
		}
	}
	return nil
}

// take tries to take permits, or waits for them: for a while or for ever.
func (a *ydbActor) take(row *ydbRow, s *ydbSession) {
	count, wait := uint64(1), uint64(forEver)
	switch {
	case row.limit == allOf:
		count = allOf
	case row.limit > 1:
		count += uint64(a.random.IntN(int(row.limit)))
	}
	switch a.random.IntN(3) {
	case 0:
		wait = 0
	case 1:
		wait = uint64(some(a.random, 100*time.Millisecond, 3*time.Second).Milliseconds())
	}
	a.round++
	s.acquire(row, count, wait, s.data(a.round))
}

// proclaim writes other data of an owner, under another name now and then, or gives back
// a part of its permits.
func (a *ydbActor) proclaim(row *ydbRow, s *ydbSession, owns *ydbtest.Link) {
	count := owns.Count
	if row.limit != allOf && count > 1 {
		count--
	}
	a.round++
	data := s.data(a.round)
	if a.random.IntN(3) == 0 {
		data = fmt.Sprintf("%s-as-%d", s.label, a.round)
	}
	s.acquire(row, count, 0, data)
}

// write writes the data of the semaphore itself.
func (a *ydbActor) write(row *ydbRow) {
	a.round++
	if err := a.server.UpdateSemaphore(ydbNode, row.name, fmt.Appendf(nil, "note %d", a.round)); err != nil {
		a.t.Fatal(err)
	}
}

func (a *ydbActor) delete(row *ydbRow) {
	if err := a.server.DeleteSemaphore(ydbNode, row.name); err != nil {
		a.t.Fatal(err)
	}
}

// end ends a session in one of the ways in which sessions do.
func (a *ydbActor) end(s *ydbSession, how int) {
	switch {
	case how == 0:
		s.stop()
	case how == 1:
		if err := a.server.ExpireSession(ydbNode, s.id); err != nil {
			a.t.Fatal(err)
		}
	case s.ttl < 5*time.Second: // its program is gone
		s.drop()
	default:
		return
	}
	a.replace(s)
}

// settle lets everybody who waits give up, and waits for the end of sessions that nobody has.
func (a *ydbActor) settle() {
	a.step()
	for _, row := range a.rows {
		for _, s := range a.all {
			if mine(a.server.Waiters(ydbNode, row.name), s) != nil {
				a.do(func() { s.release(row) })
			}
		}
	}
	a.quiet(a.t)
	a.quit()
}
