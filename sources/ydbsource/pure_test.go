package ydbsource

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

func guardOf(l ydbtest.Link) string {
	return ydbcoord.SemaphoreMember{Session: l.SessionID, Order: l.OrderID}.Guard()
}

func TestLabelIsReadableDataOrTheSession(t *testing.T) {
	t.Parallel()
	const anonymous = "session 8126481"
	for data, want := range map[string]string{
		"":                              anonymous,
		"  host-1:42 since noon":        "host-1:42",
		`{"label":"billing/1","x":[1]}`: "billing/1",
		"redis://u:TOPSECRET99@h eu":    "redis://u:***@h",
		`{"label":"token=TOPSECRET99"}`: "token=***",
		`{"name":"x"}`:                  anonymous,
		`{"label":7}`:                   anonymous,
		`{"label":"a\u001bb"}`:          anonymous,
		"{broken":                       anonymous,
		"\x1b[2Jboo":                    anonymous,
		"\xff\xfe":                      anonymous,
		"\u202eevil":                    anonymous,
		strings.Repeat("ä", 40):         strings.Repeat("ä", 32),
		"x" + strings.Repeat("ä", 40):   "x" + strings.Repeat("ä", 31),
		`{"label":"` + strings.Repeat("x", 5000) + `"}`: anonymous,
	} {
		if got := label(ydbcoord.SemaphoreMember{Session: 0x7c0011, Data: []byte(data)}); got != want {
			t.Errorf("label of %.20q is %q, want %q", data, got, want)
		}
	}
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

func FuzzLabelCanBePrinted(f *testing.F) {
	f.Add([]byte(`{"label":"a"}`))
	f.Add([]byte("a b\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := label(ydbcoord.SemaphoreMember{Session: 1, Data: data})
		if got == "" || len(got) > labelLimit || !utf8.ValidString(got) || strings.ContainsFunc(got, notPrintable) {
			t.Errorf("%q", got)
		}
	})
}

func TestKindIsToldByTheFormWhereNoneIsNamed(t *testing.T) {
	t.Parallel()
	all := []ydbcoord.SemaphoreMember{{Count: ydbcoord.AllPermits}}
	for want, s := range map[sources.Kind]ydbcoord.Semaphore{
		sources.KindMutex:     {Ephemeral: true, Limit: ydbcoord.AllPermits, Owners: all},
		sources.KindElection:  {Limit: 1},
		sources.KindSemaphore: {Ephemeral: true, Limit: ydbcoord.AllPermits, Owners: []ydbcoord.SemaphoreMember{{Count: 1}}},
	} {
		if got := guess(s); got != want {
			t.Errorf("%+v is taken for a %v, want %v", s, got, want)
		}
	}
}

func TestSharedMutexKeepsItsCountAndIsNoConflict(t *testing.T) {
	t.Parallel()
	b := &nodeState{o: &Options{}}
	p := b.primitive(&entry{Selection: Selection{Pattern: "x", Kind: sources.KindMutex}}, ydbcoord.SemaphoreState{Semaphore: ydbcoord.Semaphore{
		Ephemeral: true, Limit: ydbcoord.AllPermits, Taken: 3, Owners: []ydbcoord.SemaphoreMember{{Session: 1, Count: 1}, {Session: 2, Count: 2}},
	}}, nil, sources.Stamp{})
	if p.Limit != sources.NoLimit || p.Taken != 3 || p.Owners[0].Mode != sources.Shared || p.Owners[1].Permits != 2 {
		t.Errorf("%+v", p)
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	t.Parallel()
	client := ydbcoord.ClientOptions{Address: "h:1", Database: "/local"}
	for want, o := range map[string]Options{
		"no coordination node is named": {Client: client, Nodes: []string{"/"}},
		"not UTF-8":                     {Client: client, Selections: []Selection{{Pattern: "\xff"}}},
		"the name is empty":             {Client: client, Selections: []Selection{{}}},
		"has 1025 bytes":                {Client: client, Selections: []Selection{{Pattern: strings.Repeat("x", 1025)}}},
		"no address":                    {},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", o, err, want)
		}
	}
}

func TestSelectionsBelongToTheirNodes(t *testing.T) {
	t.Parallel()
	client := ydbcoord.ClientOptions{Address: "h:1", Database: "/local", Node: "/local/c/"}
	p, err := Options{Client: client, Nodes: []string{"a", "/local/a", "/local/b"}, Selections: []Selection{
		{Pattern: "x", Kind: sources.KindElection}, {Node: "b", Pattern: "x", Kind: sources.KindMutex}, {Node: "d", Pattern: "y"},
	}}.compile()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.nodes, " "); got != "/local/c /local/a /local/b /local/d" || p.walk {
		t.Errorf("nodes %s", got)
	}
	if a := p.selections("/local/a"); len(a) != 1 || a[0].Kind != sources.KindElection {
		t.Errorf("%+v", a)
	}
	if b := p.selections("/local/b"); len(b) != 1 || b[0].Kind != sources.KindMutex {
		t.Errorf("%+v", b)
	}
	if d := p.selections("/local/d"); len(d) != 2 {
		t.Errorf("%+v", d)
	}
}

// look is a read of a semaphore of limit 1 with an owner and waiters, by session.
func look(at time.Time, owner uint64, waiters ...uint64) ydbcoord.SemaphoreState {
	read := ydbcoord.SemaphoreState{Name: "x", Asked: at.Add(-time.Millisecond), At: at, Fired: true, Semaphore: ydbcoord.Semaphore{Limit: 1, Taken: 1}}
	read.Owners = []ydbcoord.SemaphoreMember{{Session: owner, Order: owner, Count: 1}}
	for _, w := range waiters {
		read.Waiters = append(read.Waiters, ydbcoord.SemaphoreMember{Session: w, Order: w, Count: 1})
	}
	return read
}

func TestWaiterThatCameBesideAPushWasSeenAndNotTold(t *testing.T) {
	t.Parallel()
	e := &entry{Selection: Selection{Pattern: "x", Kind: sources.KindElection}}
	b := &nodeState{o: &Options{Name: "src"}, path: app, names: []*entry{e}}
	b.begin()
	t0 := time.Now()
	r, inputs := sources.NewReplayer(sources.HubOptions{}), uint64(0)
	apply := func(in sources.Input) {
		inputs++
		in.Seq = inputs
		noError(t, r.Apply(in))
	}
	limit := sources.DefaultThresholds()
	apply(sources.Input{Kind: sources.InputStarted, Thresholds: &limit})
	apply(sources.Input{Kind: sources.InputSources, Added: []sources.AddedSource{{Name: "src"}}})
	tell := func(read ydbcoord.SemaphoreState) {
		first := e.shown == nil
		for _, c := range b.changes(e, read) {
			c.Relists, first = first, false
			apply(sources.Input{Kind: sources.InputChange, Source: "src", Change: c})
		}
	}
	tell(look(t0, 1, 2))
	tell(look(t0.Add(time.Second), 2, 3))
	tell(look(t0.Add(2*time.Second), 3))
	tell(look(t0.Add(3*time.Second), 3, 4, 5))
	tell(look(t0.Add(4*time.Second), 3, 5))
	want := "present 1 at_least, waiter_joined 2 at_least, owner_changed 2 told, waiter_joined 3 seen, owner_changed 3 told, " +
		"waiter_joined 4 seen, waiter_joined 5 seen, waiter_left 4 seen"
	var told []string
	events, _ := r.Hub().Subscribe(0).Events(0)
	for _, event := range events {
		if event.Kind == sources.EventSynced {
			continue
		}
		told = append(told, event.Kind.String()+" "+event.Owner.ID+" "+event.How.String())
	}
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("told\n%s, want\n%s", got, want)
	}
}
