package pgsource

import (
	"strings"
	"testing"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/pgwire"
	"coordtop/sources"
)

// acting is a comparison by the role "us", of rows of which a prepared transaction has the virtual "v".
func acting(may rights, pooler pgwire.Pooler, major int) *lookDiff {
	return &lookDiff{
		after: &lockTable{server: &server{user: "us", pooler: pooler, major: major}, rights: &may},
		s:     &snapshot{prepared: map[string]prepared{"v": {gid: "it's\n7", user: "app", database: "db"}}},
	}
}

func TestWhoMayEndWhichSession(t *testing.T) {
	t.Parallel()
	seen, hidden, boss, unnamed := &session{who: identity{user: "app", start: 9}}, &session{who: identity{user: "app"}},
		&session{who: identity{user: "boss", start: 9}}, &session{who: identity{start: 9}}
	plain := rights{superusers: []string{"boss"}}
	signals, member, root := plain, plain, plain
	signals.others, member.ours, root.all = true, []string{"app"}, true
	const prepared = "a prepared transaction has no session: app, or a superuser, ends it in the database db with ROLLBACK PREPARED E'it''s\\x0a7'"
	for name, c := range map[string]struct {
		may    rights
		pooler pgwire.Pooler
		s      *session
		want   string
	}{
		"no right":                         {plain, pgwire.None, seen, "the role us may not end sessions of app: grant pg_signal_backend to it"},
		"no right, and hidden":             {plain, pgwire.None, hidden, "the role us neither may end sessions of app nor sees when they began: grant pg_signal_backend and pg_monitor to it"},
		"the right, and hidden":            {signals, pgwire.None, hidden, "the role us does not see when its session began, and could end another: grant pg_monitor to it"},
		"the right":                        {signals, pgwire.None, seen, ""},
		"our own role":                     {member, pgwire.None, seen, ""},
		"our own role, and hidden":         {member, pgwire.None, hidden, "the role us does not see when its session began, and could end another: grant pg_monitor to it"},
		"a superuser's":                    {signals, pgwire.None, boss, "only a superuser may end a session of the role boss, and us is none"},
		"of nobody":                        {signals, pgwire.None, unnamed, "only a superuser may end a session of the role , and us is none"},
		"a superuser's, as one":            {root, pgwire.None, boss, ""},
		"of nobody, as a superuser":        {root, pgwire.None, unnamed, ""},
		"hidden, as a superuser":           {root, pgwire.None, hidden, "the role us does not see when its session began, and could end another: grant pg_monitor to it"},
		"through a pooler, as a superuser": {root, pgwire.Session, seen, pgcoord.NotThroughPooler},
		"through one that lends":           {root, pgwire.Lent, seen, pgcoord.NotThroughPooler},
		"a prepared transaction":           {root, pgwire.None, nil, prepared},
		"a prepared one, through a pooler": {root, pgwire.Session, nil, prepared},
	} {
		if got := acting(c.may, c.pooler, 15).whyNotEnded(&lockRow{virtual: "v"}, c.s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAGuardNamesOneOwnershipOrOneWait(t *testing.T) {
	t.Parallel()
	row := func(change func(*lockRow)) lockRow {
		r := lockRow{ident: ident{key: pgcoord.BigintKey(7)}, oid: 5, pid: 4, mode: exclusive, granted: true}
		change(&r)
		return r
	}
	seen := &session{pid: 4, who: identity{start: 9}}
	for name, c := range map[string]struct {
		row   lockRow
		s     *session
		major int
		want  string
	}{
		"an owner":                            {row(func(*lockRow) {}), seen, 15, "pid=4,start=9,db=5,key=7,mode=exclusive"},
		"one that shares":                     {row(func(r *lockRow) { r.mode = share }), seen, 15, "pid=4,start=9,db=5,key=7,mode=shared"},
		"an owner that waited":                {row(func(r *lockRow) { r.wait = 3 }), seen, 15, "pid=4,start=9,db=5,key=7,mode=exclusive"},
		"a waiter":                            {row(func(r *lockRow) { r.granted, r.wait = false, 3 }), seen, 15, "pid=4,start=9,db=5,key=7,mode=exclusive,since=3"},
		"a waiter whose beginning is to come": {row(func(r *lockRow) { r.granted = false }), seen, 15, ""},
		"a waiter of an old server":           {row(func(r *lockRow) { r.granted, r.wait = false, 3 }), seen, 13, "pid=4,start=9,db=5,key=7,mode=exclusive"},
		"a hidden start":                      {row(func(*lockRow) {}), &session{pid: 4}, 15, ""},
		"a mode that is not known":            {row(func(r *lockRow) { r.mode = modeUnknown }), seen, 15, ""},
		"a prepared transaction":              {row(func(r *lockRow) { r.pid, r.virtual = 0, "v" }), nil, 15, `gid=it's\n7,db=5,key=7,mode=exclusive`},
	} {
		if got := acting(rights{}, pgwire.None, c.major).guard(&c.row, c.s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatIsSaidOfALockInASessionWithAnotherName(t *testing.T) {
	t.Parallel()
	const pooler, ends = "leaked through a pooler: ", "; falls when the pooler closes it; ending it is safe while idle"
	const itself = "; or the program that took it changed its own name"
	for name, c := range map[string]struct {
		t             term
		now           string
		lent          bool
		label, leaked string
		who           sources.Attr
	}{
		"the same name":          {t: term{name: "job", taker: true, took: true}, now: "job|x", label: "job pid 7"},
		"taken, then renamed":    {term{name: "job", taker: true, took: true}, "web|job", false, "job, now web pid 7", "either " + pooler + "taken by job, serves web now" + ends + itself, sources.Attr{Key: sources.TakenBy, Value: "job"}},
		"seen, then renamed":     {term{name: "job", taker: true}, "web", false, "job, now web pid 7", "either " + pooler + "first seen as job, serves web now" + ends + itself, sources.Attr{Key: sources.FirstSeenAs, Value: "job"}},
		"renamed to nothing":     {term{name: "job", taker: true, took: true}, "", false, "job, now unnamed pid 7", "either " + pooler + "taken by job, serves unnamed now" + ends + itself, sources.Attr{Key: sources.TakenBy, Value: "job"}},
		"renamed from nothing":   {term{taker: true, took: true}, "web", false, "unnamed, now web pid 7", "either " + pooler + "taken by unnamed, serves web now" + ends + itself, sources.Attr{Key: sources.TakenBy, Value: "unnamed"}},
		"lent":                   {term{name: "job", taker: true, took: true}, "web", true, "job, now web pid 7", pooler + "taken by job, serves web now" + ends, sources.Attr{Key: sources.TakenBy, Value: "job"}},
		"lent, the same name":    {t: term{name: "job", taker: true, took: true}, now: "job", lent: true, label: "job pid 7", leaked: pooler + "taken by job" + ends},
		"lent, not seen to take": {t: term{name: "web"}, now: "web", lent: true, label: "web pid 7", leaked: pooler + "who took it was not seen" + ends},
		"not seen to take, then renamed": {t: term{name: "old"}, now: "web", label: "web pid 7",
			leaked: "its session was named old before: a pooler lends it, or its program changed its own name; who took it was not seen, serves web now"},
	} {
		s := &session{pid: 7, who: identity{application: c.now}, lent: c.lent}
		var who sources.Attr
		leaked := ""
		for _, a := range c.t.leak(s) {
			if a.Key == sources.Leaked {
				leaked = a.Value
			} else {
				who = a
			}
		}
		if got := c.t.label(s); got != c.label || leaked != c.leaked || who != c.who {
			t.Errorf("%s: %q\n%q\n%+v, want %q\n%q\n%+v", name, got, leaked, who, c.label, c.leaked, c.who)
		}
		if want := strings.TrimSuffix(strings.Split(c.label, ", now ")[0], " pid 7"); c.t.taker && shownName(c.t.nameOf(s)) != want {
			t.Errorf("%s: it is a lock of %q, want %q", name, c.t.nameOf(s), want)
		}
	}
}

// TestANameIsRememberedOverDarknessOnlyWithAProof has an owner that was seen to take its lock, and the same
// session under another name at the next look, or at the first look of another connection.
func TestANameIsRememberedOverDarknessOnlyWithAProof(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dark       bool
		idle, then time.Duration // for how long the session has been idle at the looks; 0: it is active
		label      string
	}{
		"in the open":               {false, 0, 0, "before, now after pid 1"},
		"idle in the dark":          {true, 5 * time.Second, 6 * time.Second, "before, now after pid 1"},
		"a statement in the dark":   {true, 5 * time.Second, 2 * time.Second, "after pid 1"},
		"busy before and after":     {true, 0, 0, "after pid 1"},
		"busy before the dark":      {true, 0, 5 * time.Second, "after pid 1"},
		"busy at the end of it":     {true, 5 * time.Second, 0, "after pid 1"},
		"idle too shortly to prove": {true, time.Second / 2, 3 * time.Second / 2, "after pid 1"},
	} {
		b := setupTable(t)
		look := func(app string, idle time.Duration, locks ...lockRow) lookResult {
			a := b.at(1, time.Unix(0, 0))
			a.who.application, a.does.state = app, "active"
			if idle > 0 {
				a.does.state, a.does.changed = "idle", b.theirs(b.now.Add(time.Second-idle))
			}
			return b.look(locks, a)
		}
		look("before", 0)
		look("before", c.idle, owns(7, 1, exclusive))
		if c.dark {
			b.lockTable = b.connected(b.server, nil)
		}
		if got := published(look("after", c.then, owns(7, 1, exclusive)))["7"].Owners[0].Label; got != c.label {
			t.Errorf("%s: %q, want %q", name, got, c.label)
		}
	}
}
