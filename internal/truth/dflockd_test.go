package truth

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
)

// dflockdActor is many connections to the emulator, which own, renew and await locks. The truth is
// read out of the emulator itself, as for YDB.
type dflockdActor struct {
	*trial
	ticker
	server *dflocktest.Server
	rows   []string
	all    []*dflockdClient

	mu     sync.Mutex
	last   time.Time // before the last look
	owners map[string]dflockdOwner
	end    string     // how what is owned ends that does not run out
	life   *time.Time // when the server ended that runs now; zero: it did not yet
}

// dflockdOwner is who owns a lock.
type dflockdOwner struct {
	dflocktest.Owner
	endsAfter, ends time.Time // its lease ends between them
}

// dflockdClient is a connection.
type dflockdClient struct {
	net.Conn
	answers *bufio.Reader
	id      uint64
}

const dflockdPool = "pool"

func TestLinesOfDflockdAreTrue(t *testing.T) {
	t.Parallel()
	server, err := dflocktest.Start(dflocktest.Options{ReadTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	a := &dflockdActor{trial: newTrial(t, server.Addr()), server: server, last: time.Now(), end: "released", life: new(time.Time)}
	t.Cleanup(a.quit)
	for i := range 12 {
		a.rows = append(a.rows, fmt.Sprintf("app:lock:%d", i))
	}
	for i := range 8 {
		a.all = append(a.all, a.open())
		a.all[i].ask("l", a.rows[i], "0 300")
	}
	a.record()
	for row := range a.history.rows {
		a.history.rows[row][0].first = true
	}
	a.harm = []fault{{"the server restarts", a.restart, false, false}}
	a.start(5*time.Millisecond, a.record)
	a.run(a, "dflockd://"+a.proxy.Addr(), true, rules{})
}

func (a *dflockdActor) open() *dflockdClient {
	a.t.Helper()
	conn, err := net.Dial("tcp", a.server.Addr())
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = conn.Close() })
	c := &dflockdClient{Conn: conn, answers: bufio.NewReader(conn)}
	key := conn.LocalAddr().String() // its lock tells the id, and is none that is watched
	c.ask("l", "new:"+key, "0 300")
	if e, err := a.server.Entry("new:" + key); err == nil && len(e.Owners) == 1 {
		c.id = e.Owners[0].Conn
		c.ask("r", "new:"+key, e.Owners[0].Nonce)
	}
	return c
}

// ask sends a command and returns its answer; "": the connection has ended.
func (c *dflockdClient) ask(command, key, argument string) string {
	if _, err := fmt.Fprintf(c, "%s\n%s\n%s\n", command, key, argument); err != nil {
		return ""
	}
	answer, err := c.answers.ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSpace(answer)
}

func (a *dflockdActor) step() {
	a.record()
	defer a.record()
	i := a.random.IntN(len(a.all))
	c, row := a.all[i], a.rows[a.random.IntN(len(a.rows))]
	if c.ask("stats", "_", "") == "" {
		c = a.open()
		a.all[i] = c
	}
	lease := fmt.Sprint(1 + a.random.IntN(3))
	if a.random.IntN(3) == 0 {
		lease = "300"
	}
	owner := a.ownerOf(row)
	n := a.random.IntN(100)
	switch {
	case n < 4:
		_ = c.Close()
		a.all[i] = a.open()
	case n < 8:
		c.ask("sl", dflockdPool, "0 3 "+lease)
	case owner == nil || n < 18:
		c.ask("l", row, "0 "+lease)
	case n < 30:
		c.ask("e", row, lease)
	case n < 55:
		a.release(row)
	case n < 80:
		left := time.Until(owner.ends)
		a.clientOf(owner).ask("n", row, fmt.Sprintf("%s %d", owner.Nonce, max(2, int(left.Seconds())+2)))
	case n < 90: // handed over at once
		a.release(row)
		c.ask("l", row, "0 "+lease)
	default: // given up and taken again
		who := a.clientOf(owner)
		a.release(row)
		who.ask("l", row, "0 "+lease)
	}
}

// clientOf returns the connection of an owner, or another one: the server looks at the nonce only.
func (a *dflockdActor) clientOf(o *dflockdOwner) *dflockdClient {
	i := slices.IndexFunc(a.all, func(c *dflockdClient) bool { return c.id == o.Conn })
	return a.all[max(i, 0)]
}

func (a *dflockdActor) ownerOf(row string) *dflockdOwner {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o, ok := a.owners[row]; ok {
		return &o
	}
	return nil
}

func (a *dflockdActor) release(row string) {
	if o := a.ownerOf(row); o != nil {
		a.clientOf(o).ask("r", row, o.Nonce)
	}
}

func (a *dflockdActor) restart() {
	a.record()
	a.endWith("restart")
	a.server.Restart()
	a.record()
	a.endWith("released")
	a.mu.Lock()
	defer a.mu.Unlock()
	*a.life, a.life = time.Now(), new(time.Time)
}

func (a *dflockdActor) endWith(cause string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.end = cause
}

// settle gives up what would end by itself.
func (a *dflockdActor) settle() {
	for again := true; again; {
		again = false
		a.record()
		for _, row := range a.rows {
			if o := a.ownerOf(row); o != nil && time.Until(o.ends) < time.Minute {
				a.release(row)
				again = true
			}
		}
	}
	a.quit()
	a.record() // the check begins when nothing is recorded any more
}

// record compares the owners with those of the last look.
func (a *dflockdActor) record() {
	a.mu.Lock()
	defer a.mu.Unlock()
	began := time.Now()
	now := map[string]dflockdOwner{}
	for _, e := range a.server.State().Entries {
		if e.Limit == 1 && len(e.Owners) == 1 && slices.Contains(a.rows, e.Key) {
			now[e.Key] = dflockdOwner{e.Owners[0], began.Add(e.Owners[0].Left), time.Now().Add(e.Owners[0].Left)}
		}
	}
	to := time.Now()
	for _, row := range a.rows {
		was, owned := a.owners[row]
		is, owns := now[row]
		change := func(o dflockdOwner, what deed) change {
			id := fmt.Sprint("conn ", o.Conn)
			return change{row: row, who: id, id: id, what: what, from: a.last, to: to}
		}
		const misread = 20 * time.Millisecond
		switch {
		case owned && owns && was.Nonce == is.Nonce:
			if is.endsAfter.After(was.ends) {
				a.history.add(change(is, renews))
			} else if was.ends.Before(is.ends) {
				is.ends = was.ends
				now[row] = is
			}
			continue
		case owned:
			end := change(was, ends)
			end.leaseEnds, end.cause, end.sessionEnds = was.ends.Add(-misread), a.end, a.life
			if !to.Before(was.ends) {
				end.cause = "expired"
			}
			a.history.add(end)
		}
		if owns {
			a.history.add(change(is, begins))
		}
	}
	a.last, a.owners = began, now
}
