package ui

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/ui/uitest"
)

// The sources of the story.
const (
	storyYDB      = "coord"
	storyRedis    = uitest.Redis
	storyPostgres = "ledger-db"
	storyDflockd  = "dflockd-eu"
)

// storyStep is one thing that a source tells, at its time.
type storyStep struct {
	At     time.Time
	Source string
	Change sources.Change
	Silent bool // from here on the source says nothing more
}

// story collects steps; its times count back from its end.
type story struct {
	end   time.Time
	steps []storyStep
	first map[string][]*sources.Primitive // the listing of each source
}

// storyLength is how long before its end the story begins.
const storyLength = 30 * time.Minute

// storySteps is half an hour of four sources up to end, in order of time: calm elections, one
// that flaps, one that has just lost its leader, mutexes and semaphores with and
// without a queue, what has no TTL, what is no lock, and a source that has fallen silent.
func storySteps(end time.Time) []storyStep {
	s := &story{end: end, first: map[string][]*sources.Primitive{}}
	s.elections()
	s.flapping()
	s.locks()
	s.semaphores()
	s.shards()
	s.silent()
	s.listings()
	slices.SortStableFunc(s.steps, func(a, b storyStep) int { return a.At.Compare(b.At) })
	return s.steps
}

// ago is a time of the story.
func (s *story) ago(d time.Duration) time.Time { return s.end.Add(-d) }

// list puts a primitive into the first listing of its source.
func (s *story) list(p prim) {
	source := p.p.Source
	s.first[source] = append(s.first[source], p.read(s.ago(storyLength)))
}

// tell lets a source tell a primitive.
func (s *story) tell(ago time.Duration, p prim) {
	at := s.ago(ago)
	s.steps = append(s.steps, storyStep{At: at, Source: p.p.Source,
		Change: sources.Change{At: at, Set: []*sources.Primitive{p.read(at)}}})
}

// ended tells a primitive that has lost an owner, with the cause.
func (s *story) ended(ago time.Duration, p prim, owner string, cause sources.Cause) {
	s.tell(ago, p)
	c := &s.steps[len(s.steps)-1].Change
	c.Ended = []sources.Ending{{Ref: p.p.Ref, Owner: owner, Cause: cause, How: sources.Told}}
}

func (s *story) listings() {
	about := map[string]*sources.About{
		storyYDB:      {Mode: "watch", Version: "24.3"},
		storyRedis:    {Mode: "tracking", Version: "7.4.1", Role: "master"},
		storyPostgres: {Mode: "polling", Sampling: time.Second, Version: "17.2"},
		storyDflockd:  {Mode: "polling", Sampling: time.Second, Version: "1.10"},
	}
	for _, name := range []string{storyYDB, storyRedis, storyPostgres, storyDflockd} {
		at := s.ago(storyLength)
		s.steps = append(s.steps, storyStep{At: at, Source: name, Change: sources.Change{
			At: at, Relists: true, Synced: true, Alive: []string{""}, About: about[name], Set: s.first[name]}})
	}
}

func (s *story) elections() {
	outbox := s.prim(sources.KindElection, storyYDB, "/eu/app/coord", "orders/outbox").owner(attached("host-12:1893", 0x7c0011, 41, "az=b v=7.2"))
	s.list(outbox.wait(s.ago(storyLength), waiter("host-15:1120", 0x7c0042, s.ago(190*time.Minute), "az=a v=7.1")))
	reconcile := s.prim(sources.KindElection, storyYDB, "/eu/app/coord", "orders/reconcile").owner(attached("host-12:1893", 0x7c0011, 44, ""))
	s.list(reconcile.wait(s.ago(storyLength)))

	nightly := s.prim(sources.KindElection, storyYDB, "/eu/app/coord", "reports/nightly").wait(s.ago(storyLength), waiter("host-20:55", 0x7c0099, s.ago(time.Hour), ""))
	s.list(nightly.owner(attached("host-18:55", 0x7c0050, 76, "")))
	s.ended(6*time.Minute, nightly, "7c0050", sources.CauseSession)
	s.tell(6*time.Minute-21*time.Second, nightly.owner(attached("host-19:55", 0x7c0051, 77, "")))

	cron := s.prim(sources.KindElection, storyRedis, "0", "billing/cron")
	s.renewed(cron, "host-21:61", storyLength, 12*time.Minute, 5*time.Second, 15*time.Second)
	s.ended(12*time.Minute-10*time.Second, cron, "host-21:61", sources.CauseExpired)
	s.renewed(cron, "host-22:61", 12*time.Minute-21*time.Second, 23*time.Second, 5*time.Second, 15*time.Second)
	s.ended(8*time.Second, cron, "host-22:61", sources.CauseExpired)

	settleRow := s.prim(sources.KindElection, storyRedis, "0", "payments/settle")
	s.renewed(settleRow, "host-01:7781", storyLength, 9*time.Minute+28*time.Second, 10*time.Second, 30*time.Second)
	s.renewed(settleRow, "host-03:7781", 9*time.Minute+27*time.Second, 9*time.Second, 9*time.Second, 30*time.Second)

	legacy := named("worker-legacy")
	legacy.NoExpiry = true
	s.list(s.prim(sources.KindElection, storyRedis, "0", "legacy/exporter").owner(legacy))
	note := s.prim(sources.KindUnknown, storyRedis, "0", "jobs/queue")
	note.p.Note, note.p.OwnersHow = "a list, not a string", sources.Unknown
	s.list(note)

	leader := s.prim(sources.KindElection, storyPostgres, "app", "4242").wait(s.ago(storyLength))
	s.list(leader.owner(attached("pid 640 billing-1", 640, 0, "")))
	s.ended(12*time.Minute+30*time.Second, leader, "280", sources.CauseUnknown)
	s.tell(12*time.Minute+29*time.Second, leader.owner(attached("pid 771 billing-2", 771, 0, "")))
}

// renewed lets an owner take a lease and renew it until a time.
func (s *story) renewed(p prim, id string, from, until, every, lease time.Duration) {
	for d := from; d >= until; d -= every {
		o := p.owner(leased(id, s.ago(d), lease))
		if d == storyLength {
			s.list(o)
			continue
		}
		s.tell(d, o)
	}
}

// flapping is an election that two programs take from each other.
func (s *story) flapping() {
	p := s.prim(sources.KindElection, storyRedis, "0", "search/indexer")
	names := [2]string{"host-07:4411", "host-09:4411"}
	from, i := storyLength, 0
	for _, until := range []int{1400, 1180, 960, 800, 645, 520, 430, 300, 165, 45} {
		end := time.Duration(until) * time.Second
		s.renewed(p, names[i%2], from, end+5*time.Second, 5*time.Second, 15*time.Second)
		i++
		if until%3 == 0 { // every other time nobody leads for a while
			s.ended(end, p, names[(i+1)%2], sources.CauseExpired)
			end -= 4 * time.Second
		}
		from = end
	}
	s.renewed(p, names[i%2], from, 11*time.Second, 5*time.Second, 15*time.Second)
}

func (s *story) locks() {
	compactor := attached("pid 30122 compactor", 30122, 0, "")
	compactor.Since = sources.Stamp{At: s.ago(127 * time.Minute), How: sources.Bound}
	compactor.Idle = sources.IdleInTransaction
	compactor.Attrs = []sources.Attr{{Key: "state", Value: "idle in transaction", Odd: true}}
	w := waiter("pid 30311 host-30", 30311, s.ago(118*time.Minute), "")
	locked := s.prim(sources.KindMutex, storyPostgres, "app", "4242:17")
	locked.p.Alias = "ledger/compactor"
	s.list(locked.owner(compactor).wait(s.ago(storyLength), w))

	job := s.prim(sources.KindMutex, storyYDB, "/eu/app/coord", "job-lock")
	for i, d := 0, storyLength; d > 0; i++ {
		o := job.owner(attached([]string{"worker-a", "worker-b", "worker-c"}[i%3], uint64(0x7d0000+i%3), uint64(900+i), ""))
		o = o.wait(s.ago(d), waiter("worker-d", 0x7d0010, s.ago(d+3*time.Second), ""), waiter("worker-e", 0x7d0011, s.ago(d+2*time.Second), ""))
		if d == storyLength {
			s.list(o)
		} else {
			s.tell(d, o)
		}
		next := d - time.Duration(40+17*(i%5))*time.Second
		if last := 4 * time.Second; d > last {
			next = max(next, last)
		}
		d = next
	}

	spare := s.prim(sources.KindMutex, storyRedis, "0", "migrations/lock")
	s.renewed(spare, "host-30:88", storyLength, 20*time.Minute, 10*time.Second, 30*time.Second)
	s.ended(19*time.Minute+57*time.Second, spare, "host-30:88", sources.CauseReleased)
}

func (s *story) semaphores() {
	pool := func(n int) prim {
		p := s.prim(sources.KindSemaphore, storyYDB, "/eu/app/coord", "connections").limit(10)
		for i := range n {
			p = p.owner(attached(fmt.Sprintf("host-%02d:9000", 60+i), uint64(0x7e0000+i), uint64(12+i), ""))
		}
		return p
	}
	waiters := []sources.Waiter{waiter("host-71:9000", 0x7e0100, s.ago(12*time.Second), ""), waiter("host-72:9000", 0x7e0101, s.ago(11*time.Second), "")}
	s.list(pool(6).wait(s.ago(storyLength), waiters...))
	for i, n := range []int{5, 3, 2, 3, 4, 7, 10, 9, 10, 8, 7} {
		ago := time.Duration(14*60-75*i)*time.Second - 300*time.Millisecond
		s.tell(ago, pool(n).wait(s.ago(ago), waiters...))
	}

	full := s.prim(sources.KindSemaphore, storyDflockd, "10.0.3.7:6388", "worker-pool").limit(5)
	full.p.Taken, full.p.OwnersHow = 5, sources.Unknown
	full.p.Queue = sources.Queue{How: sources.Told, Len: 3, At: s.ago(14 * time.Second)}
	s.list(full)
}

func (s *story) shards() {
	for i := range 8 {
		p := s.prim(sources.KindElection, storyYDB, "/eu/app/coord", fmt.Sprintf("shard-%04d/owner", i+1)).
			wait(s.ago(storyLength), waiter(fmt.Sprintf("host-%d:3001", 80+i), uint64(0x7f0100+i), s.ago(time.Hour), ""))
		o := attached(fmt.Sprintf("host-%d:3001", 40+i), uint64(0x7f0000+i), uint64(5+i), "")
		o.Since = sources.Stamp{At: s.ago(time.Duration(25*(i+1)) * time.Hour), How: sources.Told}
		s.list(p.owner(o))
		if i == 2 {
			s.ended(10*time.Minute+2*time.Second, p, "7f0002", sources.CauseReleased)
			s.tell(9*time.Minute+21*time.Second, p.owner(attached("host-39:3001", 0x7f0090, 90, "")))
		}
	}
}

// silent is a source that stopped answering 14 seconds ago.
func (s *story) silent() {
	o := named("conn 731")
	o.Since = sources.Stamp{At: s.ago(400 * time.Minute), How: sources.AtLeast}
	o.Lease = 33 * time.Second
	o.Expires = sources.Stamp{At: s.ago(-8 * time.Second), How: sources.Told}
	s.list(s.prim(sources.KindMutex, storyDflockd, "10.0.3.7:6388", "mail/digest").owner(o))
	s.steps = append(s.steps, storyStep{At: s.ago(14 * time.Second), Source: storyDflockd, Silent: true})
}

// storySpecs are the sources of the story, to be run with the scripts given.
func storySpecs(scripts map[string]*sourcetest.Script) []sources.Spec {
	return []sources.Spec{
		{Name: storyYDB, Type: "ydb", Address: "ydb-eu:2136/eu", Source: scripts[storyYDB]},
		{Name: storyRedis, Type: "redis", Address: "redis-leases:6379/0", Source: scripts[storyRedis]},
		{Name: storyPostgres, Type: "postgres", Address: "ledger-db:5432/app", Source: scripts[storyPostgres]},
		{Name: storyDflockd, Type: "dflockd", Address: "10.0.3.7:6388", Source: scripts[storyDflockd]},
	}
}

// storyScripts returns a script for each source of the story.
func storyScripts() map[string]*sourcetest.Script {
	scripts := map[string]*sourcetest.Script{}
	for _, name := range []string{storyYDB, storyRedis, storyPostgres, storyDflockd} {
		scripts[name] = sourcetest.NewScript()
	}
	return scripts
}

// scene tells the story to a Hub in virtual time and returns what it knows at the end:
// the first of January 2000, 12:41:07 UTC.
func scene(t *testing.T) *testFeed {
	t.Helper()
	var st *sources.State
	var events []sources.Event
	end := time.Date(2000, 1, 1, 12, 41, 7, 0, time.UTC)
	synctest.Test(t, func(t *testing.T) {
		hub := sources.NewHub(t.Context(), sources.HubOptions{})
		defer hub.Close()
		clock := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // where bubbles begin
		until := func(t time.Time) {
			time.Sleep(t.Sub(clock))
			synctest.Wait() // what the sources do at that instant comes first, in every run
			clock = t
		}
		until(end.Add(-storyLength))
		scripts := storyScripts()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- sources.Run(ctx, hub, storySpecs(scripts)) }() // received below
		for _, step := range storySteps(end) {
			until(step.At)
			if step.Silent {
				scripts[step.Source].Silence(true)
				continue
			}
			scripts[step.Source].Push(step.Change)
		}
		until(end)
		st = hub.State()
		var missed uint64
		if events, missed = hub.Subscribe(0).Events(0); missed > 0 {
			t.Errorf("the Hub dropped %d events of the story", missed)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return feedAt(st, end, events)
}

// feedAt is a feed of a state at another time than that of its publishing, with what was told.
func feedAt(st *sources.State, at time.Time, events []sources.Event) *testFeed {
	feed := newTestFeed(st)
	feed.Pass(at.Sub(st.At))
	feed.Tell(events...)
	return feed
}
