package ydbsource

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

// tally counts the describes that go to the service: when and for what.
type tally struct {
	mu   sync.Mutex
	list []asked
}

type asked struct {
	at   time.Time
	name string
}

// since returns how often was asked since then, in all and for each name, and the most
// that was asked in one second.
func (c *tally) since(t time.Time) (all int, byName map[string]int, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	byName = map[string]int{}
	first := 0
	for i, a := range c.list {
		if a.at.Before(t) {
			first = i + 1
			continue
		}
		all++
		byName[a.name]++
		for a.at.Sub(c.list[first].at) >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return all, byName, most
}

func (c *tally) option() grpc.DialOption {
	return grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
		streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		inner, err := streamer(ctx, desc, cc, method, opts...)
		return &tallied{inner, c}, err
	})
}

type tallied struct {
	grpc.ClientStream
	c *tally
}

func (s *tallied) SendMsg(m any) error {
	if req, ok := m.(*pb.SessionRequest); ok && req.GetDescribeSemaphore() != nil {
		s.c.mu.Lock()
		s.c.list = append(s.c.list, asked{time.Now(), req.GetDescribeSemaphore().GetName()})
		s.c.mu.Unlock()
	}
	return s.ClientStream.SendMsg(m)
}

// counted runs a source over memory, in a bubble, and counts what it asks.
func (r *rig) counted(o Options) *tally {
	r.t.Helper()
	c := &tally{}
	conn, err := grpc.NewClient("passthrough:///"+r.Endpoint(0), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(r.Dial), c.option())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() }) // whoever used it has ended
	o.Client = ydbcoord.ClientOptions{Conn: conn, Database: r.Database()}
	r.watch(o)
	return c
}

// numerous is the number of semaphores in the node of a test about large nodes.
const numerous = 5000

func many(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("sem-%04d", i))
	}
	return names
}

func TestQuietNodeCostsNoMoreThanTheBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names := many(numerous)
		r := serve(t, ydbtest.Options{InMemory: true}, names...)
		s := r.person()
		for _, name := range names[:300] {
			r.lead(s, name, "a")
		}
		c := r.counted(Options{Selections: elections(append(names, many(numerous + 40)[numerous:]...)...)})
		r.synced()
		time.Sleep(5 * time.Second)
		for _, screen := range []bool{false, true} {
			if screen {
				var visible []sources.Ref
				for _, name := range names[:20] {
					visible = append(visible, sources.Ref{Source: "src", Space: app, Name: name})
				}
				r.Hub.Focus(visible, visible[0])
			}
			began := time.Now()
			time.Sleep(time.Minute - 1) // what is asked at the end of the minute belongs to the next
			all, byName, most := c.since(began)
			t.Logf("screen %v: %d describes a minute, at most %d in a second", screen, all, most)
			if all > 20*60+1 || most > 21 {
				t.Errorf("screen %v: %d describes a minute, at most %d in a second", screen, all, most)
			}
			if n := byName[names[0]]; screen && (n < 100 || n > 120) {
				t.Errorf("the selected one is looked at %d times a minute", n)
			}
			if n := byName[names[1]]; screen && (n < 20 || n > 31) {
				t.Errorf("a visible one is looked at %d times a minute", n)
			}
		}
		r.Stop()
	})
}

func TestFewSemaphoresThatNobodyOwnsAreAskedForAtTheSlowestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true}, many(10)...)
		c := r.counted(Options{Selections: elections(many(10)...)})
		r.synced()
		began := time.Now()
		time.Sleep(5 * time.Minute)
		if all, _, _ := c.since(began); all > 5*60/5*10+10 {
			t.Errorf("%d describes in five minutes", all)
		}
		r.Stop()
	})
}

func TestEverythingIsWatchedAgainSoonAndAtAPaceOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names := many(numerous)
		r := serve(t, ydbtest.Options{InMemory: true}, names...)
		c := r.counted(Options{Selections: elections(names...)})
		r.synced()
		time.Sleep(5 * time.Second)
		lost := time.Now()
		noError(t, r.RestartTablet(app))
		r.synced()
		took := time.Since(lost)
		all, _, most := c.since(lost)
		t.Logf("%d describes, at most %d in a second, all back after %v", all, most, took)
		if took > 15*time.Second || most > 600 || all > len(names)+20*16+resyncBurst {
			t.Errorf("%d describes, at most %d in a second, all back after %v", all, most, took)
		}
		armed := 0
		for _, s := range r.Semaphores(app) {
			armed += s.Watches
		}
		if armed != len(names) {
			t.Errorf("%d watches", armed)
		}
		r.Stop()
	})
}

func TestWhatIsOnScreenIsReadFirstAfterAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names := many(numerous)
		r := serve(t, ydbtest.Options{InMemory: true}, names...)
		c := r.counted(Options{Selections: elections(names...)})
		r.synced()
		var visible []sources.Ref
		for _, name := range names[:40] {
			visible = append(visible, sources.Ref{Source: "src", Space: app, Name: name})
		}
		r.Hub.Focus(visible, visible[20])
		time.Sleep(5 * time.Second)
		lost := time.Now()
		noError(t, r.RestartTablet(app))
		r.synced()
		c.mu.Lock()
		defer c.mu.Unlock()
		first := slices.IndexFunc(c.list, func(a asked) bool { return a.at.After(lost) })
		if got := c.list[first].name; got != names[20] {
			t.Errorf("first %s is read, want the selected %s", got, names[20])
		}
		for _, a := range c.list[first : first+40] {
			if !slices.Contains(names[:40], a.name) {
				t.Errorf("%s is read before what is on screen", a.name)
			}
		}
		r.Stop()
	})
}

func TestRefreshLooksAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true}, "leader")
		c := r.counted(Options{Selections: elections("leader")})
		r.synced()
		time.Sleep(10 * time.Second)
		began := time.Now()
		r.Hub.Refresh("src")
		time.Sleep(100 * time.Millisecond)
		if all, _, _ := c.since(began); all != 1 {
			t.Errorf("%d looks", all)
		}
		r.Stop()
	})
}

func TestSilentStreamIsGivenUpAndReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true}, "leader")
		r.counted(Options{Selections: elections("leader")})
		r.synced()
		r.BlackHole(0, true)
		began := time.Now()
		r.Row("", "leader", "stale", is(sources.StatusStale))
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("stale after %v", took)
		}
		r.State("the session to be given up", func(*sources.State) bool { return !r.Status().Retry.IsZero() })
		if took := time.Since(began); took > 8*time.Second { // the window of the session is 10 s
			t.Errorf("given up after %v", took)
		}
		time.Sleep(20 * time.Second)
		r.BlackHole(0, false)
		began = time.Now()
		r.Row("", "leader", "there", is(sources.StatusNoLeader))
		t.Logf("back after %v", time.Since(began))
		r.Stop()
	})
}

func TestMissingNodeIsToldOnceAndLookedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true}, "leader")
		r.counted(Options{Nodes: []string{"/local/later"}, Selections: append(elections("leader"), Selection{Pattern: "job", Kind: sources.KindMutex})})
		r.synced()
		time.Sleep(time.Minute)
		if row := r.Row("", "job", "absent", is(sources.StatusAbsent)); !row.NoSpace || row.Note != "there is no such coordination node" {
			t.Errorf("%+v", row.Primitive)
		}
		if events := r.Drain(); len(events) > 1 || len(events) == 1 && events[0].Kind != sources.EventPresent {
			t.Errorf("%+v", events)
		}
		r.node("/local/later")
		r.Row("", "job", "free in a node", is(sources.StatusFree))
		r.Row("", "leader", "missing", func(row *sources.Row, _ *sources.State) bool { return row.Absent && row.Note != "" })
		noError(t, r.CreateSemaphore("/local/later", "leader", 1, nil))
		if e := r.Event(sources.EventCreated, "leader"); e.At.Sub(e.After) > 6*time.Second {
			t.Errorf("%+v", e)
		}
		r.Stop()
	})
}

func TestMissingNodeWithoutNamesSaysSoUntilItIsThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true})
		r.counted(Options{Nodes: []string{"/local/later"}})
		r.synced()
		about := r.About("/local/later", "missing", func(a sources.About) bool { return a.Absent })
		if len(about.Warnings) != 1 || !strings.HasPrefix(about.Warnings[0], "there is no coordination node") {
			t.Errorf("%+v", about)
		}
		r.node("/local/later")
		about = r.About("/local/later", "there", func(a sources.About) bool { return !a.Absent })
		if about.Mode != modeDescribe || len(about.Warnings) != 1 || !strings.Contains(about.Warnings[0], "semaphore=") {
			t.Errorf("%+v", about)
		}
		r.Stop()
	})
}

func TestResyncsOfManyProgramsAreSpread(t *testing.T) {
	t.Parallel()
	b := &nodeState{o: &Options{}, begun: true}
	for _, name := range many(5000) {
		b.names = append(b.names, &entry{Selection: Selection{Pattern: name}})
	}
	starts := map[time.Duration]bool{}
	now := time.Now()
	for range 10 {
		var p pace
		p.begin(b, []string{""}, now)
		first := p.due(b, []string{""}, false, now)
		if len(first.add) > 0 || first.next > resyncDelay || first.next <= 0 {
			t.Errorf("%d at once, the next after %v", len(first.add), first.next)
		}
		starts[p.counted.Sub(now)] = true
	}
	if len(starts) < 5 {
		t.Errorf("ten resyncs begin at %v", starts)
	}
}

func TestWhatIsNotOnScreenGetsItsShareOfTheLooks(t *testing.T) {
	t.Parallel()
	b := &nodeState{o: &Options{}, byName: map[string]*entry{}}
	now := time.Now()
	for _, name := range many(500) {
		e := &entry{Selection: Selection{Pattern: name}, got: true, looked: now}
		b.names, b.byName[name] = append(b.names, e), e
	}
	p := pace{pollMin: 500 * time.Millisecond, pollMax: 5 * time.Second}
	screen := append(many(1), many(100)...)
	counts := map[bool]int{}
	for range 60 * 20 {
		now = now.Add(lookEvery)
		for _, name := range p.due(b, screen, false, now).look {
			counts[name < many(101)[100]]++
			b.byName[name].looked, b.byName[name].asking = now, time.Time{}
		}
	}
	if counts[false] < 200 || counts[true] < 800 {
		t.Errorf("%d looks at what is on screen, %d elsewhere", counts[true], counts[false])
	}
}
