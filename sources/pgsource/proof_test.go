package pgsource

import (
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// proofOf is the proof of an owner that this session is, in a look that read the locks within that time
// and then, at 3,000,000 µs of the server's clock, the sessions.
func proofOf(s session, x prepared, within time.Duration) uint64 {
	got := time.Now()
	look := &snapshot{sent: got.Add(-within), clock: clock{got: got, server: 3_000_000}, prepared: map[string]prepared{"v": x}}
	d := &lookDiff{after: &lockTable{sessions: map[uint32]*session{s.pid: &s}}, s: look}
	if s.pid == 0 {
		return d.proof(&lockRow{virtual: "v"})
	}
	return d.proof(&lockRow{pid: s.pid})
}

func TestAProofIsOfASessionThatDidNothing(t *testing.T) {
	t.Parallel()
	with := func(change func(*session)) uint64 {
		s := session{pid: 7, who: identity{kind: "client backend", start: 500}, does: doings{state: "idle", changed: 900_000}}
		change(&s)
		return proofOf(s, prepared{}, 2*time.Second)
	}
	same := with(func(*session) {})
	if same == 0 || same != with(func(s *session) { s.who.application, s.does.query = "other", "select 1" }) {
		t.Error("want one number for one idle session")
	}
	for what, change := range map[string]func(*session){
		"active":                       func(s *session) { s.does.state = "active" },
		"in a call of the protocol":    func(s *session) { s.does.state = "fastpath function call" },
		"disabled":                     func(s *session) { s.does.state = "disabled" },
		"not tracked":                  func(s *session) { s.does.changed = 0 },
		"hidden":                       func(s *session) { s.who.start = 0 },
		"a background worker":          func(s *session) { s.who.kind = "app worker" },
		"idle since the locks' read":   func(s *session) { s.does.changed = 1_100_000 },
		"idle since just now":          func(s *session) { s.does.changed = 2_995_000 },
		"idle since a moment from now": func(s *session) { s.does.changed = 3_500_000 },
	} {
		if with(change) != 0 {
			t.Errorf("%s: it proves something", what)
		}
	}
	for what, change := range map[string]func(*session){
		"another process":   func(s *session) { s.pid = 8 },
		"another beginning": func(s *session) { s.who.start = 501 },
		"a statement since": func(s *session) { s.does.changed = 900_001 },
	} {
		if n := with(change); n == 0 || n == same {
			t.Errorf("%s: the number is %d, before %d", what, n, same)
		}
	}
	if with(func(s *session) { s.does.state = "idle in transaction" }) == 0 {
		t.Error("a session that is idle in its transaction has given nothing up")
	}
	busy := session{pid: 7, who: identity{kind: "client backend", start: 500}, does: doings{state: "idle", changed: 2_100_000}}
	if proofOf(busy, prepared{}, time.Millisecond) != 0 {
		t.Error("a session that worked within the last second proves something")
	}
	of := func(x prepared) uint64 { return proofOf(session{}, x, time.Second) }
	first := of(prepared{gid: "g", at: 5})
	if first == 0 || first != of(prepared{gid: "g", at: 5}) || first == of(prepared{gid: "g", at: 6}) || first == of(prepared{gid: "h", at: 5}) {
		t.Error("want one number for one name and time of PREPARE")
	}
}

// TestTheProofOverDarknessIsThatNothingWasDone has a proxy that is silent for longer than the limit.
func TestTheProofOverDarknessIsThatNothingWasDone(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]func(p *person, r *rig){
		"idle": func(*person, *rig) {},
		"given up, had by another, taken again": func(p *person, r *rig) {
			p.do("select pg_advisory_unlock(4242)")
			r.session("other").do("select pg_advisory_lock(4242)").do("select pg_advisory_unlock(4242)")
			p.do("select pg_advisory_lock(4242)")
		},
		"within one statement": func(p *person, _ *rig) {
			p.do("do $$ begin perform pg_advisory_unlock(4242); perform pg_sleep(0.01); perform pg_advisory_lock(4242); end $$")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := borrow(t)
			proxy := localserver.ProxyForTest(t, r.server.Addr())
			r.watch(Options{URL: "postgres://postgres@" + proxy.Addr() + "/postgres?sslmode=disable"}).synced()
			p := r.session("owner").do("select pg_advisory_lock(4242)")
			proved := func(row *sources.Row, s *sources.State) bool {
				return row.Status(s) == sources.StatusHeld && row.Owners[0].Proof != 0
			}
			before := r.row("", "4242", "proved", proved).Owners[0].Proof
			proxy.BlackHole()
			r.row("", "4242", "stale", is(sources.StatusStale))
			during(p, r)
			proxy.Resume()
			r.Event(sources.EventSourceUp, "")
			if name != "idle" {
				r.row("", "4242", "proved by another number", func(row *sources.Row, s *sources.State) bool {
					return proved(row, s) && row.Owners[0].Proof != before
				})
				return
			}
			r.session("later").do("select pg_advisory_lock(5151)")
			r.row("", "5151", "held", is(sources.StatusHeld)) // a look that began after the darkness
			if after := r.row("", "4242", "led", proved).Owners[0].Proof; after != before {
				t.Errorf("the proof was %d and is %d", before, after)
			}
		})
	}
}
