package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

// scene is a State, what is found in it, each beginning with its pattern and rows, and words that the first one has, or
// with a ! in front has not.
type scene struct {
	name string
	rows []*sources.Row
	want []string
	says []string
}

const (
	told, inferred, seen                         = sources.Told, sources.Inferred, sources.Seen
	expired, session, released, deleted, restart = sources.CauseExpired, sources.CauseSession, sources.CauseReleased, sources.CauseDeleted, sources.CauseRestart
)

func play(t *testing.T, scenes []scene) {
	t.Helper()
	for _, c := range scenes {
		in := input(state(c.rows...))
		found := Find(in)
		complete(t, in, found)
		var heads []string
		for i := range found {
			head, _, _ := strings.Cut(text(&found[i]), "\n")
			heads = append(heads, head)
		}
		if got, want := strings.Join(heads, ", "), strings.Join(c.want, ", "); got != want {
			t.Errorf("%s: found %s, want %s", c.name, got, want)
			continue
		}
		for _, words := range c.says {
			words, not := strings.CutPrefix(words, "!")
			if strings.Contains(text(&found[0]), words) == not {
				t.Errorf("%s: %q is wrong in\n%s", c.name, words, text(&found[0]))
			}
		}
	}
}

func TestCausesOfWhatNobodyOwns(t *testing.T) {
	t.Parallel()
	m := time.Minute
	play(t, []scene{
		{"one host loses three at once", []*sources.Row{lost("a", "host-1:1", m, expired, inferred), lost("b", "host-1:2", m+time.Second, expired, inferred), lost("c", "host-1:3", m, expired, inferred)},
			[]string{"owner-gone a b c"}, []string{"3 elections have no leader", "all were owned by host-1 until 11:58:59; their leases ran out within 1.0 s", "possible: it was killed, it is paused, or it is cut off from the server"}},
		{"one end is told, the other inferred", []*sources.Row{lost("a", "host-1:1", m, expired, told), lost("b", "host-1:2", m, expired, inferred)},
			[]string{"owner-gone a b"}, []string{"their leases ran out at once (inferred)"}},
		{"an hour apart", []*sources.Row{lost("a", "host-1:1", m, expired, inferred), lost("b", "host-1:1", 59*m, expired, inferred)},
			[]string{"owner-gone b", "owner-gone a"}, []string{"host-1:1 owned it until 11:01:00"}},
		{"two hosts at the same time", []*sources.Row{lost("a", "host-1:1", m, expired, inferred), lost("b", "host-2:1", m, expired, inferred)},
			[]string{"owner-gone a", "owner-gone b"}, []string{"!host-2"}},
		{"a session that is told to have ended", []*sources.Row{lostOn("postgres", "a", "batch", m, session, told), lostOn("postgres", "b", "batch", m, session, told)},
			[]string{"owner-gone a b"}, []string{"their sessions ended at once", "!released it and closed"}},
		{"a session that is thought to have ended", []*sources.Row{lostOn("postgres", "a", "batch", m, session, inferred)},
			[]string{"owner-gone a"}, []string{"its session ended (inferred)", "or it released it and closed its connection"}},
		{"it gave up two at once", []*sources.Row{lostOn("ydb", "a", "host-1:1", m, released, told), lostOn("ydb", "b", "host-1:1", m, released, told)},
			[]string{"leader-resigned a b"}, []string{"it gave them up at once", "!killed"}},
		{"it resigned, as its server tells", []*sources.Row{lostOn("postgres", "a", "batch", m, released, inferred)},
			[]string{"leader-resigned a"}, []string{"batch gave it up at 11:59:00 (inferred)"}},
		{"its lease was not over, which Redis does not explain", []*sources.Row{lost("a", "host-1:1", m, released, inferred)},
			[]string{"leader-gone a"}, []string{"possible: it gave it up, or somebody deleted the key"}},
		{"nor dflockd", []*sources.Row{lostOn("dflockd", "a", "conn 1", m, released, inferred)},
			[]string{"leader-gone a"}, []string{"possible: it gave it up, or its connection ended"}},
		{"a cause that is not known", []*sources.Row{lostOn("ydb", "a", "host-1:1", m, sources.CauseUnknown, seen)},
			[]string{"leader-gone a"}, []string{"possible: it gave it up, or its session ended: it was killed, stopped or cut off"}},
		{"it was deleted", []*sources.Row{lostOn("ydb", "a", "host-1:1", m, deleted, told)}, []string{"deleted a"}, []string{"deleted at 11:59:00 while host-1:1 owned it"}},
		{"ended by force", []*sources.Row{lost("a", "host-1:1", m, sources.CauseEvicted, told)}, []string{"ended-by-force a"}, []string{"host-1:1 was ended by force at 11:59:00"}},
		{"never led", []*sources.Row{lost("a", "", m, 0, 0)}, []string{"never-led a"}, []string{"nobody was seen to own it", "nobody was seen in the last hour"}},
		{"an expected lock is free", []*sources.Row{with(lostOn("ydb", "a", "x", m, sources.CauseUnknown, seen), func(r *sources.Row) { r.Kind = sources.KindMutex })},
			[]string{"expected-free a"}, []string{"a should be owned, and is free"}},
		{"any other free lock", []*sources.Row{with(lost("a", "x", m, expired, inferred), func(r *sources.Row) { r.Kind, r.Expected = sources.KindMutex, false })}, nil, nil},
		{"absent", []*sources.Row{with(semaphore("a", nil), func(r *sources.Row) { r.Absent = true })}, []string{"absent a"}, []string{"the server has no semaphore of this name"}},
		{"others led it before", []*sources.Row{with(lost("a", "host-1:1", m, expired, inferred), func(r *sources.Row) {
			r.Terms = append([]sources.Term{{Owner: sources.OwnerRef{ID: "x", Label: "host-2:1"}, Start: ago(50 * m), End: ago(40 * m)}}, r.Terms...)
		})}, []string{"owner-gone a"}, []string{"others seen in the last hour: host-2:1; none of them has taken over"}},
		{"a restart", []*sources.Row{lost("a", "host-1:1", m, restart, inferred), lost("b", "host-2:1", m, restart, inferred)},
			[]string{"server-restarted a b"}, []string{"2 elections have had no owner since a restart of redis", "was lost at 11:59:00: the server was restarted", "it was a, b"}},
		{"two restarts", []*sources.Row{lost("a", "host-1:1", m, restart, inferred), lost("b", "host-2:1", 2*m, restart, inferred)},
			[]string{"server-restarted b", "server-restarted a"}, nil},
	})
}

func TestCausesOfWaits(t *testing.T) {
	t.Parallel()
	idle := func(r *sources.Row) *sources.Row {
		return with(r, func(r *sources.Row) { r.Owners[0].Idle = sources.IdleInTransaction })
	}
	shared := func(r *sources.Row) *sources.Row {
		return with(r, func(r *sources.Row) { r.Owners[0].Mode = sources.Shared })
	}
	sharing := func(r *sources.Row) *sources.Row {
		return with(r, func(r *sources.Row) { r.Queue.Waiters[len(r.Queue.Waiters)-1].Mode = sources.Shared })
	}
	const h1, h2, h3 = "host-1:1", "host-2:1", "host-3:1"
	play(t, []scene{
		{"an idle owner", []*sources.Row{queued(idle(owned("postgres", "a", h1)), h2)}, []string{"owner-idle a"}, []string{h1 + " is idle in a transaction, and has owned it for 1h00m", "if it is released: " + h2 + " is first"}},
		{"a busy owner", []*sources.Row{queued(owned("postgres", "a", h1), h2)}, []string{"long-wait a"}, []string{h1 + " owns it for 1h00m", "!idle"}},
		{"a short wait", []*sources.Row{queuedFor(idle(owned("postgres", "a", h1)), h2, 10*time.Second, 1)}, nil, nil},
		{"left in a pool", []*sources.Row{with(queued(owned("postgres", "a", h1), h2), func(r *sources.Row) {
			r.Owners[0].Attrs = []sources.Attr{{Key: sources.Leaked, Value: "a pooler lends the session"}}
		})}, []string{"owner-idle a"}, []string{"left behind in a pooled session", "a pooler lends the session (inferred)"}},
		{"a chain", []*sources.Row{queued(owned("ydb", "a", h1), h3), queued(owned("ydb", "b", h2), h1)}, []string{"owner-waits a", "long-wait b"}, []string{"itself waits for b, which " + h2 + " owns", "coordtop why ydb/0/b"}},
		{"a ring", []*sources.Row{queued(owned("ydb", "a", h1), h2), queued(owned("ydb", "b", h2), h1)}, []string{"ring a b"}, []string{h1 + " waits for b, which " + h2 + " owns", h2 + " waits for a, which " + h1 + " owns"}},
		{"a ring across sources", []*sources.Row{queued(owned("ydb", "a", h1), h2), queued(owned("redis", "b", h2), h1)}, []string{"ring b a"}, nil},
		{"names that are of no process are another on each source", []*sources.Row{queued(owned("ydb", "a", "x"), "y"), queued(owned("redis", "b", "y"), "x")}, []string{"long-wait a", "long-wait b"}, nil},
		{"a ring that is no wait yet", []*sources.Row{queued(owned("ydb", "a", h1), h2), queuedFor(owned("ydb", "b", h2), h1, time.Second, 1)}, []string{"long-wait a"}, nil},
		{"its own other session", []*sources.Row{with(queued(owned("postgres", "a", h1), h1), func(r *sources.Row) { r.Queue.Waiters[0].Session = "other" })}, []string{"own-upgrade a"}, []string{"owns it in another session, and waits for it in this one"}},
		{"its own shared lock is not what it waits for", []*sources.Row{with(queued(shared(owned("postgres", "a", h1)), h1), func(r *sources.Row) {
			r.Owners = append(r.Owners, sources.Owner{ID: h2, Session: "s-" + h2, Label: h2, Mode: sources.Shared, Since: ago(time.Hour), NoExpiry: true})
		})}, []string{"long-wait a"}, []string{h2 + " owns it for 1h00m"}},
		{"an exclusive waiter before shared ones", []*sources.Row{sharing(queued(queued(shared(owned("postgres", "a", h1)), h2), h3))}, []string{"head-blocks a"}, []string{h2 + ", first in the queue, wants it exclusively, while 1 owner shares it; 1 behind it could share it too"}},
		{"behind an exclusive owner", []*sources.Row{sharing(queued(queued(owned("postgres", "a", h1), h2), h3))}, []string{"long-wait a"}, []string{"!first in the queue, wants"}},
		{"the first wants more than is free", []*sources.Row{queued(queuedFor(semaphore("a", map[string]uint64{h1: 7}), h2, time.Minute, 5), h3)}, []string{"head-blocks a"}, []string{"needs 5 permits, and 3 are free; 1 behind it could go"}},
		{"all want more than is free", []*sources.Row{queuedFor(queuedFor(semaphore("a", map[string]uint64{h1: 7}), h2, time.Minute, 5), h3, time.Minute, 4)}, []string{"permits-taken a"}, []string{"3 permits are free, too few for the first in the queue"}},
		{"full", []*sources.Row{queued(semaphore("a", map[string]uint64{h1: 3, h2: 7}), h3)}, []string{"permits-taken a"}, []string{"all permits are taken", h2 + " has most, 7"}},
		{"full, and nobody waits", []*sources.Row{semaphore("a", map[string]uint64{h1: 3, h2: 7})}, nil, nil},
		{"vacuum", []*sources.Row{with(queued(owned("postgres", "a", h1), h2), func(r *sources.Row) {
			r.Queue.Waiters[0].Attrs = []sources.Attr{{Key: sources.Vacuum, Value: "742"}}
		})}, []string{"long-wait a"}, []string{"1 waiter holds back vacuum in its database"}},
	})
}

func TestCausesOfWhatIsOwned(t *testing.T) {
	t.Parallel()
	late := func(name, owner string) *sources.Row {
		return with(led(name, owner), func(r *sources.Row) { r.Owners[0].Expires.At = uitest.Noon().Add(4 * time.Second) })
	}
	endless := func(r *sources.Row) {
		r.Kind, r.Owners[0].NoExpiry, r.Owners[0].Expires = sources.KindMutex, true, sources.Stamp{}
	}
	second := func(r *sources.Row) { r.Owners = append(r.Owners, sources.Owner{ID: "y", Label: "host-2:1"}) }
	play(t, []scene{
		{"late", []*sources.Row{late("a", "host-1:1")}, []string{"renews-late a"}, []string{"host-1:1 has not renewed in time", "its lease ends in 4s"}},
		{"in time", []*sources.Row{led("a", "host-1:1")}, nil, nil},
		{"three hosts are late", []*sources.Row{late("a", "host-1:1"), late("b", "host-2:1"), late("c", "host-3:1")}, []string{"server-slow a b c"}, []string{"3 hosts renew late at the same time", "the first in 4s"}},
		{"three programs of one host are late", []*sources.Row{late("a", "host-1:1"), late("b", "host-1:2"), late("c", "host-1:3")}, []string{"renews-late a", "renews-late b", "renews-late c"}, nil},
		{"without an end", []*sources.Row{with(led("a", "host-1:1"), endless)}, []string{"no-end a"}, []string{"it has no TTL: it stays if its owner dies"}},
		{"with a session that ends it", []*sources.Row{owned("ydb", "a", "host-1:1")}, nil, nil},
		{"two own it", []*sources.Row{with(led("a", "host-1:1"), second)}, []string{"two-owners a"}, []string{"host-1:1 and host-2:1 own it", "its server let a second one in"}},
		{"two share it", []*sources.Row{with(with(led("a", "host-1:1"), second), func(r *sources.Row) {
			r.Kind, r.Owners[0].Mode, r.Owners[1].Mode = sources.KindMutex, sources.Shared, sources.Shared
		})}, nil, nil},
	})
}

func TestMoreProblemsThanAnybodyReadsAreCounted(t *testing.T) {
	t.Parallel()
	var rows []*sources.Row
	for n := range mostExplained + 500 {
		rows = append(rows, owned("redis", fmt.Sprint("lock-", n), "host-1:1"))
	}
	rows = append(rows, lost("a", "host-2:1", time.Minute, expired, inferred))
	for _, r := range rows[:len(rows)-1] {
		r.Owners[0].NoExpiry, r.Owners[0].Session = true, ""
	}
	in := input(state(rows...))
	found := Find(in)
	if len(found) != mostExplained+1 || found[0].Rows[0].Name != "a" {
		t.Fatalf("%d findings, the first is %s", len(found), found[0].Title)
	}
	i := slices.IndexFunc(found, func(f Finding) bool { return f.Pattern == TooMany })
	if i < 0 || found[i].Hidden != 501 || !strings.Contains(found[i].Title, "501 more without a TTL on redis") {
		t.Errorf("the others: %d", i)
	}
}
