package headless_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coordtop/internal/headless"
	"coordtop/sources"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a feed whose states and events are written by hand.
type script struct {
	mu     sync.Mutex
	state  *sources.State
	events []sources.Event // all there ever were, by Seq from 1
	kept   int             // how many of the last are still there; 0: all
	wake   chan struct{}
}

func newScript(s *sources.State, events ...sources.Event) *script {
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	return &script{state: s, events: events, wake: make(chan struct{}, 1)}
}

func (s *script) State() *sources.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// tell publishes a state, if it is not nil, and events.
func (s *script) tell(state *sources.State, events ...sources.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state != nil {
		s.state = state
	}
	for _, e := range events {
		e.Seq = uint64(len(s.events) + 1)
		s.events = append(s.events, e)
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *script) Subscribe(from uint64) headless.Events { return &reader{script: s, next: from} }

type reader struct {
	script *script
	next   uint64
}

func (r *reader) Wake() <-chan struct{} { return r.script.wake }
func (r *reader) Close()                {}

func (r *reader) Events(max int) ([]sources.Event, uint64) {
	s := r.script
	s.mu.Lock()
	defer s.mu.Unlock()
	var missed uint64
	if s.kept > 0 && len(s.events)-int(r.next) > s.kept {
		missed = uint64(len(s.events)-s.kept) - r.next
		r.next += missed
	}
	n := min(max, len(s.events)-int(r.next))
	events := s.events[r.next : int(r.next)+n]
	r.next += uint64(n)
	return events, missed
}

// golden compares got with a file, or writes the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (make golden rewrites it; review the diff)\n got:\n%s\nwant:\n%s", name, got, want)
	}
}

// indented is one line of JSON as many, for a diff that can be read.
func indented(t *testing.T, line []byte) []byte {
	t.Helper()
	if strings.Count(string(line), "\n") != 1 || line[len(line)-1] != '\n' {
		t.Fatalf("not one line: %q", line)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, line, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// hostile holds what a terminal would obey, and bytes that are no text.
const hostile = "\x1b]0;owned\a\u009b2J\u202etxt\x7f\xff\n<&>"

// everything is a state with each shape that the JSON knows, seen at now.
func everything(now time.Time) *sources.State {
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	prim := func(source, space, name string, kind sources.Kind) *sources.Primitive {
		return &sources.Primitive{
			Ref: sources.Ref{Source: source, Space: space, Name: name}, Kind: kind, Limit: 1, LimitHow: sources.Told,
			OwnersHow: sources.Told, At: at(time.Second),
		}
	}
	led := prim("leases", "0", "app:leader:billing", sources.KindElection)
	led.Taken = 1
	led.Owners = []sources.Owner{{
		ID: "#0badf00d", Label: "host-07:4411", Fence: 1 << 60, Lease: 30 * time.Second,
		Since:   sources.StampBetween(at(42*time.Second), at(41*time.Second), sources.Seen),
		Expires: sources.Stamp{At: at(-21500 * time.Millisecond), How: sources.Told},
		Renewed: sources.Stamp{At: at(time.Second), How: sources.Seen},
		Data:    sources.Blob{Head: "host-07:4411", Len: 12}, Guard: "sha1:ab", Attrs: []sources.Attr{{Key: "type", Value: "string"}},
	}}
	nobody := prim("leases", "0", "app:leader:calm", sources.KindElection)
	secret := prim("leases", "0", "app:leader:secret", sources.KindElection)
	secret.Taken = 1
	secret.Owners = []sources.Owner{{ID: "#33f0549b", Label: "#33f0549b", Data: sources.Blob{Len: 36}, Guard: "33f0"}}
	endless := prim("leases", "0", "app:lock:endless", sources.KindMutex)
	endless.Taken = 1
	endless.Owners = []sources.Owner{{
		ID: "me", Label: "me", Session: "s1", NoExpiry: true, Since: sources.Stamp{At: at(3 * time.Hour), How: sources.AtLeast},
		Data: sources.Blob{Head: "ab\xc3", Len: 9000},
	}}
	strange := prim("leases", "0", "app:lock:"+hostile, sources.KindMutex)
	strange.Taken = 1
	strange.Owners = []sources.Owner{{ID: hostile, Label: hostile, Data: sources.Blob{Head: "\xff\x00", Len: 2}}}
	unreadable := prim("leases", "0", "app:lock:list", sources.KindUnknown)
	unreadable.OwnersHow, unreadable.LimitHow, unreadable.Note = sources.Unknown, sources.Unknown, "a list, not a string"
	full := prim("quota", "/local/app", "jobs", sources.KindSemaphore)
	full.Limit, full.Taken, full.Ephemeral = 5, 5, true
	full.Owners = []sources.Owner{
		{ID: "a", Label: "a", Permits: 2, Mode: sources.Shared, Since: sources.Stamp{At: at(time.Minute), How: sources.Bound}},
		{ID: "b", Label: "b"}, {ID: "c", Label: "c"}, {ID: "d", Label: "d"},
	}
	full.Queue = sources.Queue{How: sources.Told, Len: 1, At: at(2 * time.Second), Waiters: []sources.Waiter{{
		ID: "w", Label: "w", Permits: 3, Order: 1 << 61, Since: sources.Stamp{At: at(9 * time.Second), How: sources.Told}, Timeout: time.Minute,
	}}}
	open := prim("quota", "/local/app", "open", sources.KindSemaphore)
	open.Limit = sources.NoLimit
	open.Queue = sources.Queue{How: sources.Told, At: at(2 * time.Second)}
	counted := prim("quota", "/local/app", "counted", sources.KindSemaphore)
	counted.OwnersHow, counted.Taken, counted.Limit = sources.Unknown, 3, 10
	counted.Queue = sources.Queue{How: sources.Seen, Len: 4, At: at(time.Second)}
	backend := []sources.Attr{{Key: "pid", Value: "4711"}, {Key: "state", Value: "active"}}
	waits := sources.Waiter{
		ID: "4712@1", Session: "4712@1", Label: "report pid 4712", Mode: sources.Shared, Attrs: backend, Guard: "pid=4712,start=1",
		Since: sources.StampBetween(at(9*time.Second), at(8*time.Second), sources.Seen),
	}
	tries := sources.Waiter{ID: "4713@1", Session: "4713@1", Label: hostile, Attrs: backend}
	number := prim("quota", "ledger", "72707369", sources.KindElection)
	number.Alias, number.AliasHow = "Prisma Migrate", sources.Inferred
	number.Queue = sources.Queue{How: sources.Told, Len: 1, At: at(time.Second), Waiters: []sources.Waiter{waits}}
	number.Candidates = []sources.Waiter{tries}
	alone := prim("quota", "ledger", "17:-4", sources.KindElection)
	alone.Alias, alone.AliasHow, alone.Note = "ledger/"+hostile, sources.Told, "noted"
	alone.Queue = sources.Queue{How: sources.Told, CandidatesHow: sources.Told, At: at(time.Second)}
	row := func(scope int, p *sources.Primitive) *sources.Row { return &sources.Row{Primitive: p, Scope: scope} }
	calm := row(0, nobody)
	calm.Nobody = sources.Stamp{At: at(5 * time.Second), How: sources.Told}
	calm.Terms = []sources.Term{{
		Owner: sources.OwnerRef{ID: "#cafe0001", Label: hostile, Fence: 1 << 60}, Cause: sources.CauseExpired, How: sources.Inferred,
		Start: sources.Stamp{At: at(time.Minute), How: sources.AtLeast}, End: sources.StampBetween(at(6*time.Second), at(5*time.Second), sources.Seen),
	}}
	return &sources.State{
		At: now, LastSeq: 7,
		Rows: []*sources.Row{row(1, open), nil, row(0, led), calm, row(0, endless), row(0, strange), row(0, unreadable), row(1, full), row(2, counted),
			row(0, secret), row(1, number), row(1, alone)},
		Scopes: []sources.Scope{
			{Source: "leases", Health: sources.HealthLive, Synced: true, Alive: at(300 * time.Millisecond), About: sources.About{
				Mode: "tracking", Version: "7.0.15", Role: "master", Warnings: []string{"guessed 14 of 812,000 keys: name them with ?keys="},
			}},
			{Source: "quota", Name: "/local/app", Health: sources.HealthLive, Synced: true, Alive: at(time.Second), About: sources.About{
				Mode: "watch", Sampling: 500 * time.Millisecond,
			}},
			{Source: "quota", Name: "/local/old", Health: sources.HealthStale, Synced: true, Alive: at(time.Minute), About: sources.About{Mode: "polling", Sampling: time.Second}},
			{Source: "dark", Health: sources.HealthConnecting},
		},
		Sources: []sources.SourceStatus{
			{Name: "leases", Type: "redis", Address: "redis://h:6379/0", Health: sources.HealthLive},
			{Name: "quota", Type: "ydb", Address: "grpc://h", Health: sources.HealthStale, Err: errSilent{}},
			{Name: "dark", Type: "redis", Address: "redis://dark", Health: sources.HealthConnecting, Err: errRefused{}},
		},
	}
}

type errSilent struct{}

func (errSilent) Error() string { return "/local/old: no answer for 60 s" }

type errRefused struct{}

func (errRefused) Error() string { return "connecting to dark: connection refused\x1b[2J" }

// allEvents has an event of each kind, and each shape that a line can have.
func allEvents(now time.Time) []sources.Event {
	ref := sources.Ref{Source: "leases", Space: "0", Name: "app:leader:billing"}
	a, b := sources.OwnerRef{ID: "#aaaaaaaa", Label: "host-1:11", Fence: 7}, sources.OwnerRef{ID: "#bbbbbbbb", Label: "host-2:22", Fence: 8}
	event := func(after time.Duration, e sources.Event) sources.Event {
		e.At = now.Add(after)
		if e.Ref == (sources.Ref{}) {
			e.Ref, e.RefKind = ref, sources.KindElection
		}
		if e.How == sources.Unknown {
			e.How = sources.Told
		}
		return e
	}
	return []sources.Event{
		event(0, sources.Event{Kind: sources.EventPresent, Owner: a, How: sources.AtLeast, Data: &sources.EventData{
			Own: sources.Blob{Head: "ab\xc3", Len: 9000}, Owner: sources.Blob{Len: 36},
		}}),
		event(0, sources.Event{Kind: sources.EventPresent, Ref: sources.Ref{Source: "leases", Space: "0", Name: "app:lock:free"}, RefKind: sources.KindMutex}),
		event(0, sources.Event{Kind: sources.EventSynced, Ref: sources.Ref{Source: "leases"}}),
		event(1*time.Second, sources.Event{Kind: sources.EventRenewed, Owner: a, LeaseLeft: 20 * time.Second}),
		event(2*time.Second, sources.Event{Kind: sources.EventProclaimed, Owner: a, Detail: `"y\x1b[2J"`, Data: &sources.EventData{Own: sources.Blob{Head: "x", Len: 1}, Owner: sources.Blob{Head: "y" + hostile, Len: 40}}}),
		event(3*time.Second, sources.Event{Kind: sources.EventReleased, Previous: a, Cause: sources.CauseReleased, Held: sources.Interval{Min: 3 * time.Second, Max: sources.Endless}}),
		event(4*time.Second, sources.Event{Kind: sources.EventAcquired, Owner: b, Last: a, LastSeen: a, Gap: sources.Interval{Min: time.Second, Max: time.Second}}),
		event(5*time.Second, sources.Event{
			Kind: sources.EventOwnerChanged, Owner: a, Previous: b, How: sources.Seen, After: now.Add(4750 * time.Millisecond),
			Gap: sources.Interval{Max: 249*time.Millisecond + time.Microsecond}, Held: sources.Interval{Min: 750 * time.Millisecond, Max: time.Second},
		}),
		event(6*time.Second, sources.Event{Kind: sources.EventExpired, Previous: a, Cause: sources.CauseExpired, How: sources.Inferred}),
		event(6*time.Second, sources.Event{Kind: sources.EventWaiterJoined, Owner: sources.OwnerRef{ID: "w", Label: "w"}}),
		event(6*time.Second, sources.Event{Kind: sources.EventWaiterLeft, Owner: sources.OwnerRef{ID: "w", Label: "w"}}),
		event(7*time.Second, sources.Event{
			Kind: sources.EventAcquired, Ref: sources.Ref{Source: "leases", Space: "0", Name: hostile}, RefKind: sources.KindMutex,
			Alias: "likely " + hostile, AliasHow: sources.Inferred, Owner: sources.OwnerRef{ID: hostile, Label: hostile},
		}),
		event(7*time.Second, sources.Event{
			Kind: sources.EventCreated, Ref: sources.Ref{Source: "quota", Space: "/local/app", Name: "jobs"}, RefKind: sources.KindSemaphore,
			Scope: "/local/app",
		}),
		event(7*time.Second, sources.Event{Kind: sources.EventDeleted, Previous: a, Cause: sources.CauseDeleted}),
		event(8*time.Second, sources.Event{Kind: sources.EventSourceDown, Ref: sources.Ref{Source: "leases"}, How: sources.Seen, Detail: "connection closed"}),
		event(9*time.Second, sources.Event{Kind: sources.EventSourceUp, Ref: sources.Ref{Source: "leases"}}),
		event(9*time.Second, sources.Event{Kind: sources.EventSourceDown, Ref: sources.Ref{Source: "quota"}, Scope: "/local/" + hostile, How: sources.Seen, Detail: "there is no such coordination node"}),
		event(9*time.Second, sources.Event{Kind: sources.EventRestarted, Ref: sources.Ref{Source: "leases"}}),
		event(9*time.Second, sources.Event{Kind: sources.EventClockStep, Ref: sources.Ref{Source: "leases"}, Detail: "the clock went back by 5 s"}),
		event(9*time.Second, sources.Event{Kind: sources.EventOwnerUnknown, Last: b, LastSeen: b, Detail: "a list, not a string"}),
		event(9*time.Second, sources.Event{Kind: sources.EventLeaseChanged, Owner: b, Detail: "it has no end any more; it had 12 s left"}),
		event(9*time.Second, sources.Event{
			Kind: sources.EventPresent, Ref: sources.Ref{Source: "quota", Space: "h:1", Name: "pool"}, RefKind: sources.KindSemaphore,
			Now: sources.Counts{Taken: 1, Limit: 3}, Detail: "1 of 3 taken",
		}),
		event(9*time.Second, sources.Event{
			Kind: sources.EventCountChanged, Ref: sources.Ref{Source: "quota", Space: "h:1", Name: "pool"}, RefKind: sources.KindSemaphore,
			Was: sources.Counts{Taken: 1}, Now: sources.Counts{Taken: 3, Limit: 3, Waiting: 2}, Detail: "3 of 3 taken, 2 wait; before 1 taken",
		}),
		event(10*time.Second, sources.Event{Kind: sources.EventAction, Owner: b, How: sources.Ours, Detail: "resign by ana: done: given up: host-2:22 leads now"}),
	}
}
