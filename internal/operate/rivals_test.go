package operate_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/action"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// scene is a server with an election.
type scene struct {
	election string
	board    func(*testing.T, options) *rig // of a person; each is another
	driver   func(*testing.T) (coord.Driver, error)
}

// scenes makes one for each backend.
func scenes() map[string]func(*testing.T) scene {
	return map[string]func(*testing.T) scene{
		"redis": func(t *testing.T) scene {
			url := localserver.RedisForTest(t, localserver.RedisOptions{}).URL()
			return scene{
				election: election,
				board:    func(t *testing.T, o options) *rig { return redisRigAt(t, url, redisClient(t, url), o) },
				driver: func(t *testing.T) (coord.Driver, error) {
					return rediscoord.New(redisClient(t, url), rediscoord.Options{})
				},
			}
		},
		"postgres": func(t *testing.T) scene {
			url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
			return scene{
				election: "4242",
				board:    func(t *testing.T, o options) *rig { return postgresRigAt(t, url, o) },
				driver:   func(*testing.T) (coord.Driver, error) { return postgresDriver(url) },
			}
		},
		"ydb": func(t *testing.T) scene {
			server, err := ydbtest.Start(ydbtest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = server.Close() })
			if err := server.CreateNode(node); err != nil {
				t.Fatal(err)
			}
			if err := server.CreateSemaphore(node, "primary", 1, nil); err != nil {
				t.Fatal(err)
			}
			return scene{
				election: "primary",
				board:    func(t *testing.T, o options) *rig { return ydbRigAt(t, server, o) },
				driver: func(*testing.T) (coord.Driver, error) {
					return ydbcoord.New(server.URL(0)+"?node="+node, ydbcoord.Options{})
				},
			}
		},
	}
}

// led has a program lead until resign is called.
func (s scene) led(t *testing.T, by string) (resign func()) {
	t.Helper()
	ctx := context.Background()
	d, err := s.driver(t)
	if err != nil {
		t.Fatal(err)
	}
	session, err := coord.Open(ctx, d, coord.SessionOptions{Description: by})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Election(s.election, coord.ElectionOptions{}).Campaign(ctx, []byte(by)); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := session.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := d.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingIsEndedOnAnyBackendWhenTheOwnerChangesAfterTheBox(t *testing.T) {
	t.Parallel()
	for name, setup := range scenes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			var ended atomic.Int32
			r := s.board(t, options{change: func(_ *operate.Options, b *operate.Backend) {
				b.Crash = func(sources.Ref, sources.OwnerRef) error { ended.Add(1); return nil }
			}})
			resign := s.led(t, "one")
			first := r.owner(s.election)
			q := r.ask(action.Crash, s.election)
			if q.Target.Guard == "" {
				t.Fatalf("pinned to %+v", q.Target)
			}
			later := q
			later.Target.Fence++ // another term of the same owner
			r.refused(later, operate.ErrChanged, "fence")
			resign()
			defer s.led(t, "two")()
			r.owner(s.election, first.ID)
			r.refused(q, operate.ErrChanged, "owned it when you decided, now two")
			if n := ended.Load(); n != 0 || len(r.Status().Runs) != 0 {
				t.Errorf("%d were ended, runs %+v", n, r.Status().Runs)
			}
		})
	}
}

func TestAClaimThatQueuesFollowsItsRowWhoeverOwnsIt(t *testing.T) {
	t.Parallel()
	for name, setup := range scenes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			r := s.board(t, options{})
			resign := s.led(t, "one")
			first := r.owner(s.election)
			q := r.ask(action.Campaign, s.election)
			resign()
			again := s.led(t, "two")
			r.owner(s.election, first.ID)
			e, err := r.Describe(t.Context(), q)
			if text := strings.Join(e.Lines, " "); err != nil || !strings.Contains(text, "two") || strings.Contains(text, "one owns") {
				t.Errorf("described as %q, %v", text, err)
			}
			id := r.do(q)
			r.reaches(id, action.Waiting)
			again()
			r.reaches(id, action.Seen)
			elsewhere := q
			elsewhere.Target.Kind = sources.KindMutex
			r.refused(elsewhere, operate.ErrChanged, "listed as mutex when you decided, now as election")
		})
	}
}

// named says who acts on a board.
func named(who string) options {
	return options{change: func(_ *operate.Options, b *operate.Backend) { b.Identity = who }}
}

// eitherOf waits until ok, which is asked again when one of two operators has news.
func eitherOf(t *testing.T, a, b *rig, what string, ok func() bool) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !ok() {
		select {
		case <-a.Wake():
		case <-b.Wake():
		case <-limit.C:
			t.Fatalf("waited in vain until %s: %+v, %+v", what, a.Status(), b.Status())
		}
	}
}

func TestOfTwoBoardsThatCampaignAtOnceOneLeadsAndBothAreToldSo(t *testing.T) {
	t.Parallel()
	for name, setup := range scenes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			boards := []*rig{s.board(t, named("ana@desk:1")), s.board(t, named("ben@desk:2"))}
			begun := make(chan error, len(boards))
			ids := make([]uint64, len(boards))
			for i, r := range boards {
				q := r.ask(action.Campaign, s.election)
				go func() { // received below
					var err error
					ids[i], err = r.Start(q)
					begun <- err
				}()
			}
			for range boards {
				if err := <-begun; err != nil {
					t.Fatal(err)
				}
			}
			won := func(i int) bool { return boards[i].run(ids[i]).Phase == action.Seen }
			eitherOf(t, boards[0], boards[1], "one leads", func() bool { return won(0) || won(1) })
			if won(0) && won(1) {
				t.Fatal("both lead")
			}
			leader, other, id := boards[0], boards[1], ids[1]
			if won(1) {
				leader, other, id = boards[1], boards[0], ids[0]
			}
			held := leader.Status().Holdings
			if len(held) != 1 || held[0].Waiting {
				t.Fatalf("the leader holds %+v", held)
			}
			other.until("it shows the one that leads", func(*sources.State) bool {
				row := other.row(s.election)
				return len(row.Owners) == 1 && row.Owners[0].ID == held[0].Owner
			})
			other.reaches(id, action.Waiting)
			if h := other.Status().Holdings; len(h) != 1 || !h[0].Waiting {
				t.Errorf("the other holds %+v", h)
			}
			leader.reaches(leader.do(leader.ask(action.Resign, s.election)), action.Seen)
			other.reaches(id, action.Seen)
			if us := other.owner(s.election, held[0].Owner); us.ID != other.Status().Holdings[0].Owner {
				t.Errorf("%+v leads, the other holds %+v", us, other.Status().Holdings)
			}
		})
	}
}

func TestAResignationAndAProclamationAtOnceAreBothToldTheTruth(t *testing.T) {
	t.Parallel()
	rounds := 4
	if testing.Short() { // a proclamation that comes too late is waited for with Patience
		rounds = 1
	}
	for name, setup := range scenes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			r := s.board(t, options{change: func(o *operate.Options, _ *operate.Backend) { o.Patience = 5 * time.Second }})
			sub := r.hub.Subscribe(0)
			defer sub.Close()
			for round := range rounds {
				r.reaches(r.do(r.ask(action.Campaign, s.election)), action.Seen)
				us := r.owner(s.election)
				proclaim, resign := r.ask(action.Proclaim, s.election), r.ask(action.Resign, s.election)
				proclaim.Data = fmt.Appendf(nil, "word %d", round)
				sent, err := r.Start(proclaim)
				if err != nil {
					t.Fatal(err)
				}
				given, said := r.ends(r.do(resign)), r.ends(sent)
				if given.Phase != action.Seen {
					t.Errorf("the resignation is %v: %s", given.Phase, given.Text)
				}
				r.until("nobody leads", func(*sources.State) bool { return len(r.row(s.election).Owners) == 0 })
				if said.Phase == action.Seen && !proclaimed(sub, us.ID) {
					t.Errorf("told as proclaimed, which nobody saw: %s", said.Text)
				}
				if said.Phase == action.Failed && !strings.Contains(said.Text, "not known") && proclaimed(sub, us.ID) {
					t.Errorf("told as not written, and the watch has seen it: %s", said.Text)
				}
				if held := r.Status().Holdings; len(held) != 0 {
					t.Errorf("we hold %+v", held)
				}
				t.Logf("the proclamation is %v: %s", said.Phase, said.Text)
			}
		})
	}
}

// ends waits for the end of a run, whichever.
func (r *rig) ends(id uint64) action.Run {
	sub := r.hub.Subscribe(0) // the end of each action is an event
	defer sub.Close()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		if run := r.run(id); run.Phase.Over() {
			return run
		}
		select {
		case <-sub.Wake():
		case <-r.Wake():
		case <-limit.C:
			return r.run(id)
		}
	}
}

// proclaimed reports whether the watch has seen that an owner changed its data.
func proclaimed(sub *sources.Subscription, owner string) bool {
	events, _ := sub.Events(0)
	for i := range events {
		if events[i].Kind == sources.EventProclaimed && events[i].Owner.ID == owner {
			return true
		}
	}
	return false
}
