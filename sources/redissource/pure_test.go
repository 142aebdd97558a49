package redissource

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

func TestPrefixesCoverEverythingAndNeverOverlap(t *testing.T) {
	t.Parallel()
	many := func(format string) (list []string) {
		for i := range 100 {
			list = append(list, fmt.Sprintf(format, i))
		}
		return list
	}
	tests := []struct {
		name string
		from []string
		want []string // nil: cannot be done
	}{
		{"one", []string{"app:leader:"}, []string{"app:leader:"}},
		{"covered by another", []string{"app:leader:x", "app:", "app:leader:"}, []string{"app:"}},
		{"twice", []string{"a", "a"}, []string{"a"}},
		{"the longest common parts of many", many("app:lock:%d"), []string{"app:lock:"}},
		{"two families", append(many("app:lock:%d"), many("job/%d/leader")...), []string{"app:lock:", "job/"}},
		{"eight stay", many("%d:")[:8], []string{"0:", "1:", "2:", "3:", "4:", "5:", "6:", "7:"}},
		{"nothing in common", many("%d"), nil},
		{"variable part first", []string{"app:", ""}, nil},
		{"none", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := prefixes(tt.from)
			if ok != (tt.want != nil) || !slices.Equal(got, tt.want) {
				t.Errorf("%q, %v", got, ok)
			}
			for _, name := range tt.from {
				if ok && !covered(got, name) {
					t.Errorf("%q is not covered", name)
				}
			}
		})
	}
}

func TestGuessKnowsLocksByAPartOfTheirName(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		kind   sources.Kind
		prefix string
	}{
		{"app:leader:billing", sources.KindElection, "app:leader:"},
		{"dear-leader", sources.KindElection, "dear-leader"},
		{"redbeat::lock", sources.KindMutex, "redbeat::lock"},
		{"bull:mail:17:LOCK", sources.KindMutex, "bull:mail:17:LOCK"},
		{"x.mutex.y.master.z", sources.KindElection, "x.mutex.y.master."},
		{"quota/semaphore", sources.KindSemaphore, "quota/semaphore"},
		{"clock:12", sources.KindUnknown, ""},
		{"leaderboard", sources.KindUnknown, ""},
		{"", sources.KindUnknown, ""},
	}
	for _, tt := range tests {
		if _, got := lockformat.Word(tt.name); got != tt.kind {
			t.Errorf("%q is a %v", tt.name, got)
		}
		if got := lockformat.Prefix(tt.name); got != tt.prefix {
			t.Errorf("%q is tracked by %q", tt.name, got)
		}
	}
}

func TestSelectionPrefersANameToAPattern(t *testing.T) {
	t.Parallel()
	s := compile([]Selection{
		{Pattern: "app:*", Kind: sources.KindMutex}, {Pattern: "app:leader:x", Kind: sources.KindElection, Expected: true}, {Pattern: `app:\*`},
	})
	if r, ok := s.find("app:leader:x"); !ok || r.kind != sources.KindElection || !r.exact || !r.expected {
		t.Errorf("the name: %+v, %v", r, ok)
	}
	if r, ok := s.find("app:leader:y"); !ok || r.kind != sources.KindMutex || r.exact {
		t.Errorf("the pattern: %+v, %v", r, ok)
	}
	if r, ok := s.find("app:*"); !ok || !r.exact {
		t.Errorf("an escaped name: %+v, %v", r, ok)
	}
	if _, ok := s.find("other"); ok {
		t.Error("a stranger is selected")
	}
}

func TestOneScanFindsTheKeysOfAllPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		patterns []string
		want     string
	}{
		{[]string{"app:leader:x"}, ""}, {[]string{"app:leader:*"}, "app:leader:*"}, {[]string{"app:leader:*", "app:lock:*"}, "app:l*"},
		{[]string{"a*", "b*"}, "*"}, {[]string{`a\*b*`, `a\*c*`}, `a\**`},
	} {
		var list []Selection
		for _, p := range tt.patterns {
			list = append(list, Selection{Pattern: p})
		}
		if got := compile(list).scanPattern(); got != tt.want {
			t.Errorf("%q: %q", tt.patterns, got)
		}
	}
}

func TestAudienceNamesWhatCannotBeTracked(t *testing.T) {
	t.Parallel()
	a := compile([]Selection{{Pattern: "*:leader:*"}, {Pattern: "app:lock:*"}}).pushPlan(nil)
	if a.all || a.why == "" || !slices.Equal(a.prefixes, []string{"app:lock:"}) || len(a.patterns) != 2 {
		t.Errorf("%+v", a)
	}
	if a := compile([]Selection{{Pattern: "app:*"}}).pushPlan(nil); !a.all {
		t.Errorf("%+v", a)
	}
	var many []Selection
	for i := range 100 {
		many = append(many, Selection{Pattern: fmt.Sprintf("app:lock:%d", i)})
	}
	if a := compile(many).pushPlan(nil); !slices.Equal(a.patterns, []string{"app:lock:*"}) {
		t.Errorf("the patterns of many names are %q", a.patterns)
	}
	if a := compile(append(many, Selection{Pattern: "*x"})).pushPlan(nil); a.all || len(a.patterns) > 0 {
		t.Errorf("the patterns of many names and one that cannot be tracked are %q", a.patterns)
	}
	if a := compile(nil).pushPlan([]string{"app:leader:x", "app:leader:y"}); !a.all || !slices.Equal(a.prefixes, []string{"app:leader:"}) ||
		!slices.Equal(a.patterns, []string{"app:leader:*"}) {
		t.Errorf("guessed: %+v", a)
	}
	if a := compile(nil).pushPlan(nil); a.all || len(a.patterns) > 0 {
		t.Errorf("nothing guessed: %+v", a)
	}
}

func TestInboxKeepsOneNoticeAKeyInOrder(t *testing.T) {
	t.Parallel()
	b := newInbox()
	at := func(ms int) notice {
		t := time.UnixMilli(int64(ms))
		return notice{first: t, last: t}
	}
	b.add("b", at(1), "set")
	b.add("a", at(2), "")
	b.add("b", at(3), "del")
	<-b.wake
	names, notices := b.take(1, nil)
	if !slices.Equal(names, []string{"b"}) || notices[0].first != at(1).first || notices[0].last != at(3).last ||
		!slices.Equal(notices[0].events, []string{"set", "del"}) {
		t.Errorf("%q %+v", names, notices)
	}
	b.everything(at(4), true)
	b.spread(func(yield func(string) bool) { _ = yield("a") && yield("c") })
	names, notices = b.take(10, nil)
	if !slices.Equal(names, []string{"a", "c"}) || !notices[0].flush || notices[0].first != at(2).first || !notices[1].flush {
		t.Errorf("%q %+v", names, notices)
	}
	if names, _ := b.take(10, nil); len(names) > 0 {
		t.Errorf("%q are still there", names)
	}
}

func TestAPushIsAsOldAsTheLastAnsweredPingAtMost(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	var p heartbeat
	p.sent(at(0))
	p.answered(at(time.Millisecond))
	prompt := func(d time.Duration) bool {
		return p.notice(at(d)).prompt(at(d+time.Millisecond), p.now().tolerance())
	}
	if n := p.notice(at(20 * time.Millisecond)); n.floor != start || !prompt(20*time.Millisecond) {
		t.Errorf("prompt: %+v", n)
	}
	if n := p.notice(at(500 * time.Millisecond)); n.floor != start || prompt(500*time.Millisecond) {
		t.Errorf("half a second after the last proof: %+v", n)
	}
	p.sent(at(time.Second))
	if s := p.now().silence(at(3 * time.Second)); s != 3*time.Second-time.Millisecond {
		t.Errorf("silent for %v", s)
	}
	if p.now().pingDue(at(1500*time.Millisecond), time.Second) || !p.now().pingDue(at(2*time.Second), time.Second) {
		t.Error("while a ping waits for its answer, another is due after the longest pause")
	}
	p.answered(at(1500 * time.Millisecond))
	if n := p.notice(at(1501 * time.Millisecond)); n.floor != at(time.Second) || prompt(1501*time.Millisecond) {
		t.Errorf("after a slow answer: %+v", n)
	}
	if p.now().tolerance() != sources.Promptness || p.now().pause(false, at(0), time.Second) != pingPause {
		t.Errorf("one slow answer makes no slow link: %v, %v", p.now().tolerance(), p.now().pause(false, at(0), time.Second))
	}
	if s := p.now().silence(at(3 * time.Second)); s != 0 {
		t.Errorf("silent for %v although nothing was asked", s)
	}
	if !p.tellAlive(at(0), time.Second) || p.tellAlive(at(time.Millisecond), time.Second) || !p.tellAlive(at(time.Second), time.Second) {
		t.Error("that the server answers is told once a second")
	}
}

func TestALinkThatIsFarAwayMayTakeThreeRoundTrips(t *testing.T) {
	t.Parallel()
	start := time.Now()
	var p heartbeat
	for i := range 20 {
		p.sent(start.Add(time.Duration(i) * time.Second))
		p.answered(start.Add(time.Duration(i)*time.Second + 40*time.Millisecond))
	}
	if p.now().tolerance() != 120*time.Millisecond || p.now().pause(false, start, time.Second) != 80*time.Millisecond || p.now().pause(false, start, 50*time.Millisecond) != 50*time.Millisecond {
		t.Errorf("%v, %v, %v", p.now().tolerance(), p.now().pause(false, start, time.Second), p.now().pause(false, start, 50*time.Millisecond))
	}
}

func TestPollingIsPacedByItsCost(t *testing.T) {
	t.Parallel()
	var p poller
	for _, tt := range []struct{ cost, want time.Duration }{
		{100 * time.Microsecond, 250 * time.Millisecond}, {20 * time.Millisecond, time.Second}, {time.Second, 5 * time.Second},
	} {
		if got := p.pace(tt.cost, 250*time.Millisecond, 5*time.Second); got != tt.want {
			t.Errorf("a round of %v: %v", tt.cost, got)
		}
	}
}

func TestDeadlinesComeInOrder(t *testing.T) {
	t.Parallel()
	start := time.Now()
	var d deadlines
	keys := map[string]*key{}
	for i, name := range []string{"c", "a", "b", "d"} {
		keys[name] = newKey(name, rule{})
		d.set(keys[name], start.Add(time.Duration(i)*time.Second))
	}
	d.set(keys["a"], start.Add(10*time.Second))
	d.set(keys["d"], time.Time{})
	d.set(keys["d"], time.Time{})
	if !d.next().Equal(start) {
		t.Errorf("the next is %v", d.next().Sub(start))
	}
	if got := d.due(start.Add(5*time.Second), 1); !slices.Equal(got, []string{"c"}) {
		t.Errorf("first %q", got)
	}
	if got := d.due(start.Add(5*time.Second), 10); !slices.Equal(got, []string{"b"}) {
		t.Errorf("then %q", got)
	}
	if got := d.due(start.Add(time.Minute), 10); !slices.Equal(got, []string{"a"}) || !d.next().IsZero() {
		t.Errorf("last %q", got)
	}
}

func TestEventsServeOnlyIfTheyTellEveryEnd(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]bool{"": false, "KA": true, "Kg$x": true, "Kg$xe": true, "Eg$x": false, "K$x": false, "Kg$": false, "EA": false} {
		if got := enoughEvents(flags); got != want {
			t.Errorf("%q: %v", flags, got)
		}
	}
}

// TestWhatIsPushedTwiceAboutEveryKeyIsAsOldAsTheFirst flushes twice before anything is read.
func TestWhatIsPushedTwiceAboutEveryKeyIsAsOldAsTheFirst(t *testing.T) {
	t.Parallel()
	b := newInbox()
	b.everything(pushedAt(10), true)
	b.everything(pushedAt(50), false)
	b.everything(pushedAt(90), true)
	b.spread(slices.Values([]string{"x"}))
	_, notices := b.take(1, nil)
	if want := (notice{first: ms(10), last: ms(90), floor: ms(0), flush: true}); len(notices) != 1 || !reflect.DeepEqual(notices[0], want) {
		t.Errorf("%+v, want %+v", notices, want)
	}
}

func TestAnAnswerThatStayedUnreadMeasuresNoRoundTrip(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	var p heartbeat
	ping := func(sent, answered int) time.Duration {
		p.sent(at(sent))
		p.answered(at(answered))
		return p.now().roundTrip
	}
	if trip := ping(0, 1); trip != time.Millisecond || !p.gather(true) {
		t.Fatalf("a round trip of %v", trip)
	}
	p.sent(at(20))
	p.sent(at(32))
	p.answered(at(33))
	p.gather(false)
	p.sent(at(44)) // while the answer to the one before is still unread
	p.answered(at(45))
	if trip := p.now().roundTrip; trip != time.Millisecond {
		t.Errorf("%v", trip)
	}
	p.answered(at(47))
	if trip := p.now().roundTrip; trip != 3*time.Millisecond || !p.now().confirmed.Equal(at(44)) {
		t.Errorf("behind it %v", trip)
	}
	var far heartbeat
	far.sent(at(0))
	far.answered(at(2))
	if far.gather(true) {
		t.Error("messages from far away stay unread")
	}
}
