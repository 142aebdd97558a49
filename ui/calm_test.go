package ui

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/raced"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/ui/terminal"
)

// leases drives a board over a Hub and a source of elections whose leaders renew.
type leases struct {
	t      *testing.T
	script *sourcetest.Script
	sub    *sources.Subscription
	board  *driver
	chance *rand.Rand
	wire   *wire
	bytes  int // that the terminal was sent
}

// elected is an election with a leader whose lease was renewed just now.
func elected(name string, lease time.Duration) *sources.Primitive {
	now := time.Now()
	return &sources.Primitive{
		Ref: sources.Ref{Source: "redis", Space: "0", Name: name}, Kind: sources.KindElection, Limit: 1, Taken: 1,
		LimitHow: sources.Told, OwnersHow: sources.Told, At: now, ForgetAfter: time.Hour,
		Owners: []sources.Owner{{ID: name, Label: "host-" + name, Lease: lease, Expires: sources.Stamp{At: now.Add(lease), How: sources.Told}}},
	}
}

// inCalm runs a test in a bubble with a board of 160x48 in its default order.
func inCalm(t *testing.T, prims func() []*sources.Primitive, test func(*leases)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		hub := sources.NewHub(t.Context(), sources.HubOptions{})
		defer hub.Close()
		l := &leases{t: t, script: sourcetest.NewScript("main"), chance: rand.New(rand.NewPCG(1, 2))}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			_ = sources.Run(ctx, hub, []sources.Spec{{Name: "redis", Type: "redis", Source: l.script}})
		})
		defer running.Wait()
		defer stop()
		l.sub = hub.Subscribe(0)
		defer l.sub.Close()
		l.script.Push(sources.Change{Scope: "main", Relists: true, Set: prims(), Synced: true, Alive: []string{"main"}})
		synctest.Wait()
		m := newModel(Options{Feed: present{hub, l.sub}, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}})
		l.board = &driver{model: m}
		l.board.send(tea.WindowSizeMsg{Width: 160, Height: 48})
		l.board.send(terminal.WakeMsg{})
		l.wire = newWire(160, 48)
		l.wire.frame(t, l.board)
		test(l)
	})
}

// quiet lets a second pass in which nothing is told but that the server answers.
func (l *leases) quiet() {
	time.Sleep(time.Second)
	synctest.Wait()
	l.board.send(terminal.WakeMsg{})
	l.board.send(terminal.SecondMsg{})
}

// push lets a tenth of a second pass, and some be renewed.
func (l *leases) push(renewed []*sources.Primitive) {
	time.Sleep(100 * time.Millisecond)
	l.script.Push(sources.Change{Scope: "main", Set: renewed, Alive: []string{"main"}})
	synctest.Wait()
}

// second lets a second pass, with a wake-up and a frame of the board for each tenth of it.
func (l *leases) second(renew func() []*sources.Primitive) {
	for range 10 {
		l.push(renew())
		l.board.send(terminal.WakeMsg{})
		l.bytes += l.wire.frame(l.t, l.board)
	}
	l.board.send(terminal.SecondMsg{})
	l.board.send(terminal.ColumnMsg{})
	l.bytes += l.wire.frame(l.t, l.board)
}

func TestManyLeasesThatAreRenewedAtRandomAreNoProblemAndKeepStill(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it draws two thousand rows in one goroutine")
	rows, each := 2_000, 20 // renewals in a tenth of a second: each row every ten seconds, more or less
	name := func(i int) string { return fmt.Sprintf("app:leader:%05d", i) }
	all := func() []*sources.Primitive {
		prims := make([]*sources.Primitive, rows)
		for i := range prims {
			prims[i] = elected(name(i), time.Hour)
		}
		return prims
	}
	inCalm(t, all, func(l *leases) {
		some := func() []*sources.Primitive {
			prims := make([]*sources.Primitive, each)
			for i := range prims {
				prims[i] = elected(name(l.chance.IntN(rows)), time.Hour)
			}
			return prims
		}
		for range 250 { // until rhythms are known
			l.push(some())
		}
		l.second(some)
		before := l.board.names()
		const seconds = 10
		l.bytes = 0
		for range seconds {
			l.second(some)
			if n := l.board.Rows.ProblemRows(); n > 0 {
				t.Fatalf("%d problems with most of every lease left", n)
			}
		}
		if after := l.board.names(); !slices.Equal(after, before) {
			t.Errorf("the rows moved: %v, then %v", before, after)
		}
		t.Logf("%d bytes a second", l.bytes/seconds)
		if l.bytes > 1500*seconds {
			t.Errorf("%d bytes in %d s, not 1,500 a second at most", l.bytes, seconds)
		}
	})
}

// TestACalmCostsFewBytes has a thousand elections without a leader: each second their ages change, and their strips move.
func TestACalmCostsFewBytes(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it draws a hundred frames in one goroutine and counts bytes")
	all := func() (prims []*sources.Primitive) {
		for i := range 1000 {
			prims = append(prims, elected(fmt.Sprintf("app:leader:%05d", i), time.Hour))
		}
		return prims
	}
	inCalm(t, all, func(l *leases) {
		time.Sleep(10 * time.Second)
		lost := all()
		for _, p := range lost {
			p.Owners, p.Taken = nil, 0
		}
		l.push(lost)
		l.board.send(terminal.WakeMsg{})
		never := func() <-chan struct{} { return nil }
		late := func() time.Time { return time.Now().Add(-3 * time.Millisecond) } // a real timer fires a little late
		p := terminal.Pump{Wake: never, Now: late, Revision: func() uint64 { return 1 }, Send: func(msg tea.Msg) {
			l.script.Push(sources.Change{Scope: "main", Alive: []string{"main"}})
			synctest.Wait()
			l.board.send(msg)
			l.bytes += l.wire.frame(t, l.board)
		}}
		for range 2 { // the calm begins in the first minute
			ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
			l.bytes = 0
			if err := p.Run(ctx); err != nil {
				t.Error(err)
			}
			cancel()
			t.Logf("%d bytes in a minute", l.bytes)
		}
		if l.bytes > 60_000 {
			t.Errorf("%d bytes in a minute, not 1,000 a second at most", l.bytes)
		}
	})
}

func TestALeaderThatStopsRenewingStandsFirstBeforeItsLeaseIsOver(t *testing.T) {
	t.Parallel()
	const lease, every = 30, 10 // seconds
	all := func() []*sources.Primitive {
		prims := []*sources.Primitive{elected("stops", lease*time.Second)}
		for i := range 200 {
			prims = append(prims, elected(fmt.Sprintf("calm-%03d", i), time.Hour))
		}
		return prims
	}
	inCalm(t, all, func(l *leases) {
		for s := range 4 * every {
			l.quiet()
			if s%every == every-1 {
				l.script.Push(sources.Change{Scope: "main", Set: []*sources.Primitive{elected("stops", lease*time.Second)}})
			}
		}
		for s := range 21 {
			if got := l.board.names()[0]; got == "stops" && s <= 15 {
				t.Fatalf("it stands first %d s after a renewal, with half of its lease left", s)
			}
			l.quiet()
		}
		if got := l.board.names()[0]; got != "stops" || l.board.Rows.ProblemRows() != 1 {
			t.Errorf("first is %s, %d problems, 21 s after the last renewal", got, l.board.Rows.ProblemRows())
		}
	})
}

// TestNoAgeOfALeaseCountsARenewalOutThatCame has one that is renewed each 200 ms, the last time 100 ms before a frame.
func TestNoAgeOfALeaseCountsARenewalOutThatCame(t *testing.T) {
	t.Parallel()
	const lease = 10 * time.Second
	led := func() []*sources.Primitive { return []*sources.Primitive{elected("app", lease)} }
	inCalm(t, led, func(l *leases) {
		l.sub.SkipCalm()
		l.board.press("enter")
		for range 10 {
			for range 5 {
				l.push(led())
				time.Sleep(100 * time.Millisecond)
			}
			l.board.send(terminal.SecondMsg{})
			l.board.shows(t, "renewed 100 ms ago")
			l.board.shows(t, "never below 9.7 s")
		}
	})
}

func TestNoSecondIsLeftOutBeforeAVerdictChanges(t *testing.T) {
	t.Parallel()
	led := func() []*sources.Primitive { return []*sources.Primitive{elected("app", time.Minute)} }
	inCalm(t, led, func(l *leases) {
		announced := 0 // seconds in a row in which it was said that none may be left out
		for s := range 60 {
			l.quiet()
			if l.board.Rows.ProblemRows() > 0 {
				if s < 10 || announced < int(terminal.CalmStep/time.Second) {
					t.Errorf("the verdict changed after %d s, and was announced %d s before", s, announced)
				}
				return
			}
			if announced++; !l.board.feeds.soon.Load() {
				announced = 0
			} else if s < 10 {
				t.Errorf("a change is announced after %d s", s)
			}
		}
		t.Error("no verdict changed")
	})
}
