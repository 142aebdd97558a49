package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// inDetailOf opens the full detail of a primitive on a large screen.
func inDetailOf(p *sources.Primitive, events ...sources.Event) *driver {
	d := drive(newTestFeed(uitest.State(noon(), p)), Options{Width: 120, Height: 60})
	d.feed.Tell(events...)
	d.send(terminal.WakeMsg{})
	d.press("enter")
	return d
}

func TestRenewalsAreDrawnAsASawtooth(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "host", noon())
	var events []sources.Event
	for i := range 12 { // every 5 s of 15, but the sixth was missed
		if i == 6 {
			continue
		}
		left := 10 * time.Second
		if i == 7 {
			left = 5 * time.Second
		}
		events = append(events, sources.Event{Seq: uint64(i + 1), Kind: sources.EventRenewed, Ref: p.Ref, At: noon().Add(time.Duration(5*i-55) * time.Second),
			Owner: sources.OwnerRef{ID: "host"}, LeaseLeft: left})
	}
	other := uitest.Led("b", "host", noon())
	events = append(events, sources.Event{Seq: 99, Kind: sources.EventRenewed, Ref: other.Ref, At: noon(), Owner: sources.OwnerRef{ID: "host"}, LeaseLeft: time.Second})
	p.Owners[0].Since = sources.Stamp{At: noon().Add(-time.Minute), How: sources.Seen}
	d := inDetailOf(p, events...)
	d.shows(t, "LEASE LEFT, the lowest in every 2s · longest without a renewal 10 s")
	d.shows(t, "▇▆▆▇▆▇▆▅▄▃▇▆▆▇") // the tooth that goes deeper is the missed renewal
	if n := strings.Count(d.text(), "LEASE LEFT"); n != 1 {
		t.Errorf("%d sawteeth", n)
	}
	if axes := regexp.MustCompile(`(?m)^.*11:59:00.*now.*$`).FindAllString(d.text(), -1); len(axes) != 2 || axes[0] != axes[1] {
		t.Errorf("the lease and its owners have different axes: %q", axes)
	}
	d = drive(newTestFeed(uitest.State(noon(), p)), Options{Width: 120, Height: 60, ASCII: true})
	d.feed.Tell(events...)
	d.send(terminal.WakeMsg{})
	d.press("enter")
	d.shows(t, "76676765437667")
}

func TestSawtoothDoesNotCountRenewalsBeforeItsWindowAsMissed(t *testing.T) {
	t.Parallel()
	d := drive(scene(t), Options{Width: 100, Height: 60})
	d.send(terminal.WakeMsg{})
	d.press("/")
	d.typed("search/indexer")
	d.press("enter", "enter")
	d.shows(t, "longest without a renewal 11 s")
}

func TestDataIsPrettyPrintedWhenItIsJSON(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "host", noon())
	for text, want := range map[string][]string{
		`{"az":"b","load":[1,2]}`: {`    "az": "b",`, `      1,`},
		`{"az":"b"`:               {`{"az":"b"`},
		`plain text`:              {`plain text`},
		"{\"a\":\"\u202e\"}":      {`    "a": "\u202e"`},
	} {
		p.Owners[0].Data = sources.Blob{Head: text, Len: len(text)}
		d := inDetailOf(p)
		for _, line := range want {
			d.shows(t, line)
		}
	}
}

func TestInstantsOfTheBackendAreShownAsAges(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "pid 771", noon())
	p.Owners[0].NoExpiry, p.Owners[0].Session, p.Owners[0].Idle = true, "771@x", sources.IdleInTransaction
	p.Owners[0].Attrs = []sources.Attr{{Key: "pid", Value: "771"}, {Key: "state", Value: "idle in transaction", Odd: true},
		{Key: "query", Value: "select 1"}, {Key: "transaction start", Value: noon().Add(-127 * time.Minute).Format(time.RFC3339)}}
	d := inDetailOf(p)
	d.shows(t, "FACTS of pid 771")
	d.shows(t, "    state              idle in transaction")
	d.shows(t, "    transaction start  09:53:00, 2h07m ago")
	d.press("esc")
	d.shows(t, "idle in tx")
}

func TestASessionIsShortInTheTableAndWholeAmongTheFacts(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "pid 9875", noon())
	p.Owners[0].NoExpiry, p.Owners[0].Session = true, "9875@2026-11-21T05:13:57.889383Z"
	d := inDetailOf(p)
	d.shows(t, " 9875@05:13:57 ")
	d.shows(t, "    session  9875@2026-11-21T05:13:57.889383Z")
}

func TestFactsOfSeveralOwnersStandBelowTheirNames(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "host-1", noon())
	p.Owners[0].Attrs = []sources.Attr{{Key: "order id", Value: "7"}}
	second := p.Owners[0]
	second.ID, second.Label, second.Attrs = "second", "host-21", []sources.Attr{{Key: "order id", Value: "8"}}
	p.Owners = append(p.Owners, second)
	d := inDetailOf(p)
	for i, label := range []string{"host-1", "host-21"} {
		d.shows(t, "FACTS of "+label)
		d.shows(t, fmt.Sprintf("    order id  %d", 7+i))
	}
}

func TestWaitersStandInOrderWithTheirTimeOuts(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "host", noon())
	p.Queue = sources.Queue{How: sources.Told, Len: 3, At: noon(), Waiters: []sources.Waiter{
		{ID: "1", Label: "one", Since: sources.Stamp{At: noon().Add(-10 * time.Second), How: sources.Told}, Timeout: time.Minute},
		{ID: "2", Label: "two", Timeout: 30 * time.Second},
	}}
	d := inDetailOf(p)
	d.shows(t, "WAITING 3 in server order, the first 2")
	d.shows(t, "← next if released")
	d.shows(t, "in 50s")
	d.shows(t, "after 30s")
	d.shows(t, "IF RELEASED  one is first in the queue")
	one, two := strings.Index(d.text(), "1 one"), strings.Index(d.text(), "2 two")
	if one < 0 || two < one {
		t.Errorf("one stands at %d, two at %d", one, two)
	}
	p.Queue = sources.Queue{How: sources.Told, At: noon()}
	inDetailOf(p).shows(t, "nobody waits: it is free until somebody asks")
	p.Queue.At = noon().Add(-41 * time.Second) // somebody may wait by now
	d = inDetailOf(p)
	d.shows(t, "WAITING nobody, read 41s ago")
	d.shows(t, "nobody waits, read 41s ago: it is free until somebody asks")
	p.Queue = sources.Queue{}
	inDetailOf(p).shows(t, "no queue here: whoever asks first")
}

func TestSemaphoreIsAGreyProfileWhereNobodyIsKnownToHaveWaited(t *testing.T) {
	t.Parallel()
	d := drive(scene(t), Options{})
	for _, line := range strings.Split(d.View().Content, "\n") {
		if !strings.Contains(line, "connections") {
			continue
		}
		if !strings.Contains(line, string(d.Theme.Dim)+"▆▆▆▆▆") || !strings.Contains(line, string(d.Theme.Dim)+"▂▂▂") || strings.ContainsAny(line, "█▇") {
			t.Errorf("the profile is %q", line)
		}
		return
	}
	t.Error("the row is not on the screen")
}

func TestAFullPoolIsYellowOnlyWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		queue sources.Queue
		want  bool
	}{
		{sources.Queue{How: sources.Told}, false},
		{sources.Queue{}, false}, // not told
		{sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "w", Label: "w", Since: sources.Stamp{At: noon().Add(-9 * time.Minute), How: sources.Told}}}}, true},
		{sources.Queue{How: sources.Told, Len: 2}, true}, // only a number is told
	} {
		p := uitest.Led("pool", "host-1", noon())
		p.Kind, p.Limit, p.Taken, p.Queue = sources.KindSemaphore, 2, 2, c.queue
		st := uitest.State(noon(), p)
		st.Rows[0].Terms, st.Rows[0].Counted = nil, &sources.Counted{Last: sources.Level{At: noon().Add(-10 * time.Minute), Taken: 2, High: 2}}
		d := drive(newTestFeed(st), Options{Width: 120, Height: 30})
		d.pass(1)
		line := strings.Split(d.View().Content, "\n")[4]
		if yellow := strings.Contains(line, string(d.Theme.Warn)+"▆"); yellow != c.want || !strings.Contains(line, "▆") {
			t.Errorf("queue %+v: yellow %v in %q", c.queue, yellow, line)
		}
		if problem := d.Rows.ProblemRows() > 0; problem != c.want {
			t.Errorf("queue %+v: a problem %v", c.queue, problem)
		}
	}
}

func TestARowWithSeveralOwnersHasTheLetterOfItsStrip(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "host-1", noon())
	second := p.Owners[0]
	second.ID, second.Label, second.Mode = "second", "host-21", sources.Shared
	p.Kind, p.Owners = sources.KindMutex, append(p.Owners, second)
	st := uitest.State(noon(), p)
	term := st.Rows[0].Terms[0]
	term.Owner, term.Hue = sources.OwnerRef{ID: second.ID, Label: second.Label}, 1
	st.Rows[0].Terms = append(st.Rows[0].Terms, term)
	d := drive(newTestFeed(st), Options{Width: 160, Height: 48})
	d.shows(t, "B host-21 +1 ") // the newest, whose line the strip has
	d.shows(t, "  A host-1 ")
	d.shows(t, "  B host-21  ")
}

func TestQueueSaysHowItsOrderIsKnownAndWhoGoesTogether(t *testing.T) {
	t.Parallel()
	shared := func(label string, turn int) sources.Waiter {
		return sources.Waiter{ID: label, Label: label, Mode: sources.Shared, Turn: turn}
	}
	last := sources.Waiter{ID: "x1", Label: "x1", Turn: 2}
	for _, c := range []struct {
		how     sources.Known
		waiters []sources.Waiter
		shows   []string
		not     string
	}{
		{sources.Told, []sources.Waiter{shared("s1", 1), shared("s2", 1), last},
			[]string{"WAITING 3 in server order", "← next, together", "IF RELEASED  s1 and s2 are first in the queue, together"}, "probably"},
		{sources.Inferred, []sources.Waiter{shared("s1", 1), shared("s2", 1), last},
			[]string{"WAITING 3, order inferred", "← probably next, together", "IF RELEASED  probably s1 and s2, together: the order of the queue is inferred"}, "server order"},
		{sources.Inferred, []sources.Waiter{shared("s1", 1), last},
			[]string{"WAITING 2, order inferred", "← probably next if released", "IF RELEASED  probably s1: the order of the queue is inferred"}, "server order"},
		{sources.Told, []sources.Waiter{shared("s1", 1), shared("s2", 1), shared("s3", 1), shared("s4", 1), shared("s5", 1)},
			[]string{"IF RELEASED  s1, s2, s3 and 2 more are first in the queue, together"}, "probably"},
	} {
		p := uitest.Led("a", "host", noon())
		p.Queue = sources.Queue{How: c.how, Len: len(c.waiters), At: noon(), Waiters: c.waiters}
		d := inDetailOf(p)
		for _, want := range c.shows {
			d.shows(t, want)
		}
		if strings.Contains(d.text(), c.not) {
			t.Errorf("%q is said of a queue that is %v:\n%s", c.not, c.how, d.text())
		}
		if n, want := strings.Count(d.text(), "← "), len(p.Queue.Next()); n != want {
			t.Errorf("%d are marked as next, want %d:\n%s", n, want, d.text())
		}
	}
}

// Lines without room in the pane are counted in its title, and a semaphore says how many of its
// permits are taken and free.
func TestThePaneSaysHowMuchItLeavesOut(t *testing.T) {
	t.Parallel()
	p := uitest.Led("pool", "a", noon())
	p.Kind, p.Limit, p.LimitHow, p.Taken = sources.KindSemaphore, 20, sources.Told, 19
	p.Queue = sources.Queue{How: sources.Told}
	for i := range 18 {
		p.Owners = append(p.Owners, sources.Owner{ID: string(rune('b' + i)), Label: "client-" + string(rune('b'+i))})
	}
	d := drive(newTestFeed(uitest.State(noon(), p)), Options{Width: 80, Height: 24})
	d.shows(t, "held, 19 of 20 taken")
	d.shows(t, " more lines: enter ")
	d.press("enter")
	d.press("G")
	d.shows(t, "1 of 20 permits free now")
	d.showsNot(t, " more lines: enter ")
}

// The result of an action is shown whole, over as many lines as it needs.
func TestTheResultOfAnActionIsNotCut(t *testing.T) {
	t.Parallel()
	d, op, _ := armedOne()
	text := "its process crashed: " + strings.Repeat("a-long-name-of-a-host:4412 ", 4) + "leads now, after 5.2 ms without"
	op.Change(func(s *action.Status) {
		s.Runs = []action.Run{{ID: 1, Request: action.Request{Verb: action.Crash, Target: action.TargetOf(d.State.Rows[0], nil)}, Phase: action.Seen, Started: noon().Add(-500 * time.Millisecond), Changed: noon(), Text: text}}
	})
	d.send(terminal.WakeMsg{})
	d.pass(20)
	d.press("enter")
	exact(t, d)
	if got := strings.Join(strings.Fields(d.text()), " "); !strings.Contains(got, "11:59:59 crash done, "+text) {
		t.Errorf("the result is cut, or not at the time of the sending:\n%s", d.text())
	}
}

func TestOneProgramThatWaitsIsSaidInTheSingular(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "IF RELEASED  1 program waits, not told which", 2: "IF RELEASED  2 programs wait, not told who is first"} {
		p := uitest.Led("a", "host", noon())
		p.Queue = sources.Queue{How: sources.Told, Len: n, At: noon()}
		d := inDetailOf(p)
		d.shows(t, want)
	}
}

func TestFewGapsInThePaneAreNotCalledUsual(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{1: "nobody owned it 1 time in 1 h: longest 2.0 s", 2: "2 times in 1 h: longest 4.0 s", 3: "3 times in 1 h: usually for 4.0 s"} {
		st := uitest.State(noon(), uitest.Led("a", "host", noon()))
		st.Scopes[0].Dark = nil
		row := *st.Rows[0]
		row.Terms = nil
		at := noon().Add(-30 * time.Minute)
		for i := range n + 1 {
			start := sources.Stamp{At: at.Add(time.Duration(2*i) * time.Second), How: sources.Seen}
			at = at.Add(time.Duration(2*i)*time.Second + time.Minute)
			row.Terms = append(row.Terms, sources.Term{Owner: sources.OwnerRef{ID: "host"}, Start: start, End: sources.Stamp{At: at, How: sources.Seen}})
		}
		row.Terms[n].End = sources.Stamp{}
		st.Rows[0] = &row
		d := drive(newTestFeed(st), Options{Width: 160, Height: 48})
		d.press("enter")
		d.shows(t, want)
	}
}

func TestThePaneShowsTheOwnerBeforeRightAfterAHandOver(t *testing.T) {
	t.Parallel()
	handedOver := func(ago time.Duration) *driver {
		p := uitest.Led("a", "host-2", noon())
		at := sources.Stamp{At: noon().Add(-ago), How: sources.Seen}
		p.Owners[0].Since, p.Owners[0].Attrs = at, []sources.Attr{{Key: "pid", Value: "7"}}
		p.Queue = sources.Queue{How: sources.Told, Len: 2, Waiters: []sources.Waiter{{ID: "w1", Label: "host-3"}, {ID: "w2", Label: "host-4"}}}
		st := uitest.State(noon(), p)
		st.Rows[0].Terms = []sources.Term{
			{Owner: sources.OwnerRef{ID: "host-1", Label: "host-1"}, Start: sources.Stamp{At: noon().Add(-time.Hour), How: sources.Seen}, End: at, Cause: sources.CauseReleased, How: sources.Told},
			{Owner: sources.OwnerRef{ID: "host-2", Label: "host-2"}, Start: at},
		}
		return drive(newTestFeed(st), Options{Width: 80, Height: 24})
	}
	d := handedOver(10 * time.Second)
	d.shows(t, "BEFORE")
	d.shows(t, "host-1  11:00:00 to 11:59:50")
	d.shows(t, "WAITING 2")
	if d = handedOver(10 * time.Minute); !strings.Contains(d.text(), "WAITING 2") || strings.Contains(d.text(), "BEFORE") && strings.Index(d.text(), "BEFORE") < strings.Index(d.text(), "WAITING 2") {
		t.Errorf("ten minutes later the owner before goes before those that wait:\n%s", d.text())
	}
}

func TestTheFirstPageOfAnOpenedRowShowsWhatItsOwnerDoes(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "report", noon())
	p.Owners[0].Attrs = []sources.Attr{{Key: "client", Value: "10.0.0.7"}, {Key: "query", Value: "vacuum"}}
	p.Queue = sources.Queue{How: sources.Told, Len: 9}
	for i := range p.Queue.Len {
		p.Queue.Waiters = append(p.Queue.Waiters, sources.Waiter{ID: fmt.Sprint(i), Label: fmt.Sprint("w", i), Attrs: []sources.Attr{{Key: "query", Value: "select 1"}}})
	}
	d := drive(newTestFeed(uitest.State(noon(), p)), Options{Width: 80, Height: 24})
	d.press("enter")
	d.shows(t, "client 10.0.0.7  query vacuum")
}
