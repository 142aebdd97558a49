package trouble_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/trouble"
	"coordtop/sources"
)

func at(s float64) time.Time { return time.Unix(0, int64(s*1e9)) }

func ref(name string) sources.Ref { return sources.Ref{Source: "s", Name: name} }

// term is one that was seen from begin to end, in seconds; end 0: it runs.
func term(owner string, begin, end float64, cause sources.Cause) sources.Term {
	t := sources.Term{Owner: sources.OwnerRef{ID: owner}, Start: sources.Stamp{At: at(begin), How: sources.Seen}, Cause: cause, How: sources.Told}
	if end > 0 {
		t.End = sources.Stamp{At: at(end), How: sources.Seen}
	}
	return t
}

func led(name string, terms ...sources.Term) history.Lane {
	return history.Lane{Ref: ref(name), Kind: sources.KindElection, Terms: terms, Since: at(0)}
}

func lock(name string, terms ...sources.Term) history.Lane {
	return history.Lane{Ref: ref(name), Kind: sources.KindMutex, Terms: terms, Since: at(0)}
}

func event(s float64, kind sources.EventKind, name, who, detail string) history.Event {
	return history.Event{Run: 1, Event: sources.Event{At: at(s), Kind: kind, Ref: ref(name), Owner: sources.OwnerRef{ID: who}, Detail: detail}}
}

// flapping is an election that is lost n times, every minute.
func flapping(n int) history.Lane {
	l := led("a")
	for i := range n {
		l.Terms = append(l.Terms, term(fmt.Sprint("x", i%2), float64(60*i+1), float64(60*i+50), sources.CauseExpired))
	}
	l.Terms = append(l.Terms, term("y", float64(60*n+1), 0, 0))
	return l
}

// TestTroubleIsFound has for each thing that goes wrong a twin that is nearly it, and is not found or is another thing.
func TestTroubleIsFound(t *testing.T) {
	t.Parallel()
	many := func(host func(i int) string, apart float64) (lanes []history.Lane) {
		for i := range 10 {
			end := 100 + apart*float64(i)
			lanes = append(lanes, led(fmt.Sprint("e", i), term(host(i), 1, end, sources.CauseExpired), term("other:1", end+20, 0, 0)))
		}
		return lanes
	}
	forced := term("x", 1, 100, sources.CauseEvicted)
	act := sources.Event{At: at(99.9), Kind: sources.EventAction, Ref: ref("a"), Cause: sources.CauseEvicted, Previous: sources.OwnerRef{ID: "x"}, Detail: `release by ana@desk ("stuck: \"x\""): done after 20 ms`}
	gone := term("x", 1, 100, sources.CauseSession)
	gone.How = sources.Inferred
	unseen := term("x", 1, 300, sources.CauseUnknown)
	unseen.End = sources.StampBetween(at(100), at(300), sources.Seen)
	dark := led("a", unseen, term("y", 330, 0, 0))
	dark.Dark = []sources.Dark{{From: at(100), To: at(300)}}
	tests := map[string]struct {
		lanes  []history.Lane
		events []history.Event
		acts   []sources.Event
		want   string
	}{
		"ten leaders of one host at once": {lanes: many(func(i int) string { return fmt.Sprint("host-22:", i) }, 0.0004), want: "100 10 elections had no leader (s/e0, s/e1, s/e2 and 7 more) | the leases of host-22 all ran out within 3.6 ms | then other led"},
		"ten of two hosts":                {lanes: many(func(i int) string { return fmt.Sprintf("h%d:%d", i%2, i) }, 0.0004), want: "100 5 elections had no leader (s/e0, s/e2, s/e4 and 2 more) | the leases of h0 all ran out within 3.2 ms | then other led\n100 5 elections had no leader (s/e1, s/e3, s/e5 and 2 more) | the leases of h1 all ran out within 3.2 ms | then other led"},
		"two, a while apart":              {lanes: many(func(i int) string { return "h:1" }, 5)[:2], want: "100 s/e0 had no leader | the lease of h:1 ran out | then other:1 led\n105 s/e1 had no leader | the lease of h:1 ran out | then other:1 led"},
		"a restart takes all from all": {lanes: []history.Lane{led("a", term("x:1", 1, 100, sources.CauseRestart), term("y", 103, 0, 0)), led("b", term("z:1", 1, 100, sources.CauseRestart), term("y", 103, 0, 0)),
			lock("c", term("x:1", 1, 100, sources.CauseRestart)), lock("d", term("z:1", 1, 100, sources.CauseRestart))},
			want: "100 2 elections had no leader (s/a, s/b) | the server restarted | then y led\n100 2 locks were lost (s/c, s/d) | the server restarted | "},
		"nobody leads at the end":                        {lanes: []history.Lane{led("a", term("x", 1, 100, sources.CauseSession))}, want: "100 s/a had no leader | the session of x ended | it lasts"},
		"a leader that resigns":                          {lanes: []history.Lane{led("a", term("x", 1, 100, sources.CauseReleased), term("y", 100.5, 0, 0))}},
		"a leader that resigns, and nobody":              {lanes: []history.Lane{led("a", term("x", 1, 100, sources.CauseReleased), term("y", 103, 0, 0))}, want: "100 s/a had no leader | x gave it up | then y led"},
		"ended by force":                                 {lanes: []history.Lane{led("a", forced, term("y", 100.2, 0, 0))}, acts: []sources.Event{act}, want: `100 s/a had no leader | x was ended by force by ana@desk ("stuck: \"x\"") | then y led`},
		"ended by force, seen as a session that is gone": {lanes: []history.Lane{lock("a", gone, term("y", 100, 0, 0))}, acts: []sources.Event{act}, want: `100 x lost s/a | x was ended by force by ana@desk ("stuck: \"x\"") | then y owned it`},
		"a session that is gone":                         {lanes: []history.Lane{lock("a", gone, term("y", 100, 0, 0))}},
		"a mutex that ran out":                           {lanes: []history.Lane{lock("a", term("x", 1, 100, sources.CauseExpired), term("y", 200, 0, 0))}, want: "100 x lost s/a | the lease of x ran out | then y owned it"},
		"a mutex that is free":                           {lanes: []history.Lane{lock("a", term("x", 1, 100, sources.CauseReleased), term("y", 200, 0, 0))}},
		"lost in darkness":                               {lanes: []history.Lane{dark}, want: "300 s/a had no leader | why x lost it is not known; it was not observed then | then y led"},
		"it flaps":                                       {lanes: []history.Lane{flapping(5)}, want: "50 s/a was lost 5 times, again and again: without an owner for 55 s in all | the lease of x0 ran out | then y led"},
		"it is lost as often as it may be":               {lanes: []history.Lane{flapping(2)}, want: "50 s/a had no leader | the lease of x0 ran out | then x1 led\n110 s/a had no leader | the lease of x1 ran out | then y led"},
		"an outage that began before":                    {events: []history.Event{event(-50, sources.EventSourceDown, "", "", "refused"), event(50, sources.EventSourceUp, "", "", "")}, want: "-50 s did not answer | refused | then it answered again"},
		"an outage that lasts":                           {events: []history.Event{event(50, sources.EventSourceDown, "", "", "refused"), event(60, sources.EventSourceDown, "", "", "timeout")}, want: "50 s did not answer | refused | it lasts"},
		"an outage before":                               {events: []history.Event{event(-50, sources.EventSourceDown, "", "", "refused"), event(-40, sources.EventSourceUp, "", "", "")}},
		"a hiccup":                                       {events: []history.Event{event(50, sources.EventSourceDown, "", "", "refused"), event(50.5, sources.EventSourceUp, "", "", "")}},
		"an outage that is noticed late":                 {events: []history.Event{{Run: 1, Event: sources.Event{At: at(53), After: at(50), Kind: sources.EventSourceDown, Ref: ref(""), Detail: "no answer for 3s"}}, event(60, sources.EventSourceUp, "", "", "")}, want: "50 s did not answer | no answer for 3s | then it answered again"},
		"a restart":                                      {events: []history.Event{event(50, sources.EventRestarted, "", "", "with another run id")}, want: "50 s restarted | with another run id | "},
		"an end that is removed":                         {events: []history.Event{event(50, sources.EventLeaseChanged, "a", "x", sources.EndRemoved+"; it had 3 s left")}, want: "50 the lease of x on s/a has no end any more | it had 3 s left | it lasts"},
		"an end that is nearer":                          {events: []history.Event{event(50, sources.EventLeaseChanged, "a", "x", "it ends in 3 s; it had 5 s left")}},
		"a long wait":                                    {events: []history.Event{event(-10, sources.EventWaiterJoined, "a", "w", ""), event(25, sources.EventWaiterLeft, "a", "w", "")}, want: "-10 w waited for s/a |  | left"},
		"two wait for a lock that is held": {lanes: []history.Lane{lock("a", term("x", 1, 0, 0))}, events: []history.Event{event(10, sources.EventWaiterJoined, "a", "w", ""), event(20, sources.EventWaiterJoined, "a", "v", "")},
			want: "10 w and 1 more waited for s/a | x owned it meanwhile | not seen to end"},
		"two wait one after the other": {lanes: []history.Lane{lock("a", term("x", 1, 60, sources.CauseReleased), term("y", 60, 0, 0))}, events: []history.Event{event(10, sources.EventWaiterJoined, "a", "w", ""), event(60, sources.EventWaiterLeft, "a", "w", ""), event(70, sources.EventWaiterJoined, "a", "v", ""), event(170, sources.EventWaiterLeft, "a", "v", "")},
			want: "10 w waited for s/a | x owned it meanwhile | left\n70 v waited for s/a | y owned it meanwhile | left"},
		"a candidate waits":                    {lanes: []history.Lane{led("a", term("x", 1, 0, 0))}, events: []history.Event{event(10, sources.EventWaiterJoined, "a", "w", "")}},
		"a wait that is served, and one short": {events: []history.Event{event(10, sources.EventWaiterJoined, "a", "w", ""), event(15, sources.EventWaiterJoined, "a", "v", ""), event(40, sources.EventAcquired, "a", "w", ""), event(44, sources.EventWaiterLeft, "a", "v", "")}, want: "10 w and 1 more waited for s/a |  | then w owned it"},
		"one waits for long, others one after the other": {events: []history.Event{event(10, sources.EventWaiterJoined, "a", "w", ""), event(11, sources.EventWaiterJoined, "a", "v", ""), event(15, sources.EventWaiterLeft, "a", "v", ""),
			event(15, sources.EventWaiterJoined, "a", "u", ""), event(45, sources.EventWaiterLeft, "a", "w", ""), event(45, sources.EventWaiterJoined, "a", "t", ""), event(46, sources.EventWaiterLeft, "a", "u", ""), event(47, sources.EventWaiterLeft, "a", "t", "")}, want: "10 w and 1 more waited for s/a |  | left"},
	}
	w := trouble.Words{Ref: func(r sources.Ref) string { return r.Source + "/" + r.Name }, Text: func(s string) string { return s }}
	for name, test := range tests {
		in := &trouble.Input{Span: history.Span{From: at(0), To: at(1000)}, Lanes: test.lanes, Events: test.events, Acts: test.acts, Thresholds: sources.DefaultThresholds(),
			Runs: []history.Run{{ID: 1, Span: history.Span{From: at(-100), To: at(1000)}}}}
		var got []string
		for _, x := range trouble.Find(in) {
			got = append(got, fmt.Sprintf("%d %s | %s | %s", x.From.Unix(), x.What(w), x.Why(w), x.Then(w)))
		}
		if is := strings.Join(got, "\n"); is != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, is, test.want)
		}
	}
}

func TestTheWorstTroubleComesFirst(t *testing.T) {
	t.Parallel()
	in := &trouble.Input{Span: history.Span{From: at(0), To: at(1000)}, Thresholds: sources.DefaultThresholds(),
		Lanes: []history.Lane{
			led("short", term("x", 1, 100, sources.CauseExpired), term("y", 103, 0, 0)),
			led("long", term("x", 1, 200, sources.CauseExpired), term("y", 230, 0, 0)),
			led("lasts", term("x", 1, 990, sources.CauseExpired)),
			lock("lock", term("x", 1, 5, sources.CauseExpired), term("y", 6, 0, 0)),
		},
		Events: []history.Event{event(50, sources.EventSourceDown, "", "", "refused"), event(900, sources.EventSourceUp, "", "", "")}}
	var got []string
	for _, x := range trouble.Worst(trouble.Find(in)) {
		name := "outage"
		if len(x.Refs) > 0 {
			name = x.Refs[0].Name
		}
		got = append(got, name)
	}
	if is := strings.Join(got, " "); is != "lasts long short outage lock" {
		t.Error(is)
	}
}

func TestALockThatTakesTurnsIsSaidToDoSo(t *testing.T) {
	t.Parallel()
	span := history.Span{From: at(0), To: at(1000)}
	l := lock("feed")
	for i := range 38 {
		l.Terms = append(l.Terms, term([]string{"feed-a", "feed-b"}[i%2], float64(7*i+1), float64(7*i+5), sources.CauseReleased))
	}
	if turns, ok := trouble.TurnsOf(&l, span); !ok || turns.Times != 38 || turns.Every != 7*time.Second || fmt.Sprint(turns.Owners) != "[feed-b feed-a]" {
		t.Errorf("%+v %t", turns, ok)
	}
	if few := lock("feed", l.Terms[:2]...); true {
		if _, ok := trouble.TurnsOf(&few, span); ok {
			t.Error("two times are turns")
		}
	}
	if election := led("feed", l.Terms...); true {
		if _, ok := trouble.TurnsOf(&election, span); ok {
			t.Error("an election takes turns")
		}
	}
}
