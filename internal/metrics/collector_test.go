package metrics

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/common/expfmt"

	"coordtop/internal/history/record"
	"coordtop/sources"
)

const none = -1 // no sample

func TestALedElectionAndOneWithoutALeaderHaveTheirNumbers(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", nil, func(w *watched) {
		w.push(true, led("a", "host-1"), led("b", "host-2"))
		w.pass(10 * time.Second)
		w.push(false, led("b", ""))
		w.pass(6 * time.Second)
		w.push(false, led("a", "host-1"))
		got := w.scrape()
		got.wants(t, samples{
			"source_up": 1, "primitives": 2, "standby": 0, "series_dropped": 0, "build_info": 1,
			"has_leader a": 1, "lease_left_seconds a": 14, "transitions_total a": 0, "losses_total a": 0, "leaderless_seconds_total a": 0,
			"has_leader b": 0, "lease_left_seconds b": none, "transitions_total b": 0,
			"problem_rows needs a person": 1, "problem_rows worth a look": 0,
			"problems needs a person,no-leader": 1, "problem b,needs a person,no-leader": 1, "missed_renewals a": none, "waiters a": none,
		})
		if s := got["leaderless_seconds_total b"]; s < 5.5 || s > 7.1 {
			t.Errorf("b had no leader for %v s", s)
		}
		w.push(false, led("b", "host-3"))
		got = w.scrape()
		got.wants(t, samples{"has_leader b": 1, "transitions_total b": 1, "source_transitions_total": 1, "problem b,needs a person,no-leader": none, "problem_rows needs a person": 0})
	})
}

func TestAnElectionThatIsDeletedHasNoLeader(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", nil, func(w *watched) {
		w.push(true, led("a", "host-1"))
		before := w.scrape()
		gone := led("a", "")
		gone.Absent = true
		w.push(false, gone)
		w.pass(10 * time.Second)
		got := w.scrape()
		got.wants(t, samples{"has_leader a": 0})
		for _, name := range []string{"leaderless_seconds_total a", "observed_seconds_total a"} {
			if more := got[name] - before[name]; more < 9 || more > 12.1 {
				t.Errorf("%s: %v s more", name, more)
			}
		}
	})
}

// TestWhatNobodySawHasNoSample cuts the source off, and lets the leader change meanwhile.
func TestWhatNobodySawHasNoSample(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", nil, func(w *watched) {
		unknown := led("u", "")
		unknown.OwnersHow, unknown.LimitHow = sources.Unknown, sources.Unknown
		list := func() []sources.Change {
			return []sources.Change{{Relists: true, Synced: true, Alive: []string{""}, Set: []*sources.Primitive{led("a", "host-1"), unknown}}}
		}
		w.script.OnConnect(list)
		w.pass(20 * time.Second)
		w.push(false, led("a", ""))
		w.pass(10 * time.Second)
		before := w.scrape()
		before.wants(t, samples{"has_leader a": 0, "has_leader u": none, "leaderless_seconds_total u": 0, "observed_seconds_total u": 0, "source_up": 1})
		for range 100 {
			w.script.FailConnect(errors.New("gone"))
		}
		w.script.Fail(errors.New("gone"))
		w.pass(time.Minute)
		cut := w.scrape()
		cut.wants(t, samples{"source_up": 0, "source_transitions_total": none, "primitives": none, "problem_rows needs a person": none, "series": 0})
		if got := append(cut.of("seconds"), cut.of("leader")...); len(got) > 1 {
			t.Errorf("stale rows have samples: %v", got)
		}
		if lag := cut["watch_lag_seconds"]; lag < 59 {
			t.Errorf("the last answer was %v s ago", lag)
		}
		w.script.OnConnect(func() []sources.Change {
			return []sources.Change{{Relists: true, Synced: true, Alive: []string{""}, Set: []*sources.Primitive{led("a", "host-2")}}}
		})
		after := w.scrape()
		for tries := 0; after["source_up"] == 0 && tries < 10_000; tries++ {
			after = w.scrape()
		}
		w.push(false, led("a", "host-2"))
		after = w.scrape()
		after.wants(t, samples{"has_leader a": 1, "source_up": 1})
		for _, name := range []string{"transitions_total a", "leaderless_seconds_total a", "observed_seconds_total a", "source_transitions_total"} {
			if after[name] < before[name] {
				t.Errorf("%s went from %v back to %v", name, before[name], after[name])
			}
		}
		if more := after["leaderless_seconds_total a"] - before["leaderless_seconds_total a"]; more > 5 {
			t.Errorf("%v s that nobody saw count as without a leader", more)
		}
		const seen = 33 // seconds before the cut, about
		if total := after["observed_seconds_total a"]; total < seen-5 || total > seen+5 {
			t.Errorf("%v s were observed", total)
		}
	})
}

// TestASilenceCountsNeitherBeforeNorAfterItIsNoticed has silences of ten seconds, which are noticed after three.
func TestASilenceCountsNeitherBeforeNorAfterItIsNoticed(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", nil, func(w *watched) {
		w.push(true, led("a", "host-1"))
		w.push(false, led("a", ""))
		before := w.scrape()
		began, seen := time.Now(), time.Duration(0)
		for range 6 {
			w.script.Silence(true)
			w.pass(10 * time.Second)
			w.script.Silence(false)
			w.push(true, led("a", ""))
			w.pass(5 * time.Second)
			seen += 5 * time.Second
		}
		w.push(false, led("a", ""))
		after := w.scrape()
		most := (seen + 2*every).Seconds() + 6 // the runner's own last second before each silence
		for _, name := range []string{"leaderless_seconds_total a", "observed_seconds_total a"} {
			if more := after[name] - before[name]; more < seen.Seconds()-6 || more > most {
				t.Errorf("%s: %v s more in %v, of which %v were seen", name, more, time.Since(began), seen)
			}
		}
	})
}

// TestWhatTheServerSaysLaterOfASilenceCounts has an election without a leader, a silence that is too short to be
// noticed, and an answer of which the leader has led for all of it.
func TestWhatTheServerSaysLaterOfASilenceCounts(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", nil, func(w *watched) {
		w.push(true, led("a", "host-1"))
		w.push(false, led("a", ""))
		before := w.scrape()
		w.script.Silence(true)
		since := time.Now()
		for i := range 6 {
			w.pass(2 * every / 5)
			w.script.Push(sources.Change{Set: []*sources.Primitive{led("b", fmt.Sprint("host-", i))}}) // the Hub publishes a State
		}
		w.pass(0)
		if st := w.hub.State(); !st.At.After(since.Add(2*every)) || !st.Rows[0].Fresh(st) {
			t.Fatal("no State was published in the silence, or it was noticed")
		}
		a := led("a", "host-2")
		a.Owners[0].Since = sources.Stamp{At: since, How: sources.Told}
		w.push(false, a)
		after := w.scrape()
		after.wants(t, samples{"has_leader a": 1})
		if more := after["leaderless_seconds_total a"] - before["leaderless_seconds_total a"]; more > 0.1 {
			t.Errorf("host-2 had led since the first scrape, but after it %v s count as without a leader", more)
		}
	})
}

// TestASilentServerExcusesItsOwners has a leader that renews twice a second, and a server that is silent for some seconds.
func TestASilentServerExcusesItsOwners(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", nil, func(w *watched) {
		for n := range 20 {
			w.push(n == 0, led("a", "host-1"))
			w.pass(every / 2)
		}
		w.script.Silence(true)
		w.pass(every)
		w.scrape().wants(t, samples{"has_leader a": 1, "missed_renewals a": 0})
		w.script.Silence(false)
		w.pass(2 * every)
		if got := w.scrape()["missed_renewals a"]; got < 2 {
			t.Errorf("its server answers: %v renewals are missed", got)
		}
	})
}

func TestASumHasNoSampleUntilTheListingIsComplete(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", nil, func(w *watched) {
		w.script.Push(sources.Change{Relists: true, Alive: []string{""}, Set: []*sources.Primitive{led("a", "host-1")}})
		w.scrape().wants(t, samples{"primitives": none, "problem_rows needs a person": none, "source_up": 1, "has_leader a": 1})
		w.script.Push(sources.Change{Synced: true, Alive: []string{""}})
		w.scrape().wants(t, samples{"primitives": 1, "problem_rows needs a person": 0})
	})
}

func TestASourceIsAsOldAsItsServerThatIsSilentForLongest(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", nil, func(w *watched) {
		w.push(true, led("a", "host-1"))
		w.script.Push(sources.Change{Scope: "b", Relists: true, Synced: true, Alive: []string{"b"}})
		w.scrape().wants(t, samples{"source_up": 1, "primitives": 1})
		w.pass(10 * time.Second)
		got := w.scrape()
		got.wants(t, samples{"source_up": 0, "primitives": none, "problem_rows needs a person": none, "source_transitions_total": none, "has_leader a": 1})
		if lag := got["watch_lag_seconds"]; lag < 11 || lag > 13 {
			t.Errorf("b has been silent for %v s", lag)
		}
	})
}

// TestCountersOfRowsThatAreGoneAreBounded replaces a row with a new one forty times.
func TestCountersOfRowsThatAreGoneAreBounded(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", func(o *Options) { o.Series = 7 }, func(w *watched) {
		for i := range 40 {
			w.push(true, led(fmt.Sprint("n", i), "host-1"))
			w.scrape().wants(t, samples{fmt.Sprint("has_leader n", i): 1})
		}
		w.collector.mu.Lock()
		defer w.collector.mu.Unlock()
		if n := len(w.collector.byRow); n > 2*7+1 {
			t.Errorf("%d rows have counters", n)
		}
	})
}

func TestACollectorThatDoesNotLookForTenSecondsDoesNotLive(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", nil, func(w *watched) {
		w.pass(time.Minute)
		hangs := New(Options{Hub: w.hub}) // as one whose Run does
		defer hangs.news.Close()
		hangs.look()
		w.pass(hung - every)
		if err := hangs.Alive(); err != nil {
			t.Errorf("after %v: %v", hung-every, err)
		}
		w.pass(2 * every)
		if err := hangs.Alive(); err == nil {
			t.Error("it hangs, and says that it lives")
		}
		if err := w.collector.Alive(); err != nil {
			t.Error(err)
		}
	})
}

func TestNeitherOwnersNorDataNorNamesThatAreNotSelectedAreShown(t *testing.T) {
	t.Parallel()
	hostile := "app:\x1b[31m\n\"x\"\\\xff\u202e" + strings.Repeat("y", 5000)
	watch(t, "name~app:", nil, func(w *watched) {
		secret := led(hostile, "hunter2-owner")
		secret.Owners[0].Data, secret.Data = sources.NewBlob([]byte("hunter2"), 7), sources.NewBlob([]byte("hunter2"), 7)
		secret.Owners[0].Attrs = []sources.Attr{{Key: "client", Value: "hunter2"}}
		secret.Owners[0].Session, secret.Owners[0].Guard, secret.Note, secret.Alias = "hunter2", "hunter2", "hunter2", "hunter2"
		secret.Queue = sources.Queue{How: sources.Told, Len: 2, Waiters: []sources.Waiter{{ID: "hunter2", Label: "hunter2", Since: sources.Stamp{At: time.Now(), How: sources.Told}}}}
		twin := led(hostile+"z", "x") // equal once it is cut
		w.push(true, secret, twin, led("hunter2", "x"))
		got := w.scrape()
		if len(got.of("has_leader")) != 1 || len(got.of("waiters")) != 1 || got["series_dropped"] < 5 {
			t.Errorf("of two names that are equal once they are cut: %v, dropped %v", got.of("has_leader"), got["series_dropped"])
		}
		for _, f := range []expfmt.FormatType{expfmt.TypeTextPlain, expfmt.TypeOpenMetrics} {
			text := w.exposition(expfmt.NewFormat(f))
			if strings.Contains(text, "hunter2") {
				t.Errorf("it shows a secret, a name or an owner:\n%s", text)
			}
			if strings.ContainsAny(text, "\x1b\u202e") || !utf8.ValidString(text) || strings.Contains(text, strings.Repeat("y", longestName)) {
				t.Errorf("it shows a name as it is:\n%s", text)
			}
		}
	})
	watch(t, "", nil, func(w *watched) {
		w.push(true, led("a", "host-1"))
		if got := w.scrape(); got["primitives"] != 1 || got["series"] != 0 || len(got.of("leader")) > 0 {
			t.Errorf("without a filter: %v", got)
		}
	})
}

func TestSeriesBeyondTheBoundAreCounted(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", func(o *Options) { o.Series = 100 }, func(w *watched) {
		all := make([]*sources.Primitive, 0, 300)
		for i := range 300 {
			all = append(all, led(fmt.Sprintf("n%03d", i), "host-1"))
		}
		w.push(true, all...)
		w.pass(5 * time.Second)
		got := w.scrape()
		of := len(got.of(" n000"))
		if n := len(got.of(" n0")) + len(got.of(",n0")); n > 100 || n <= 100-of || float64(n) != got["series"] || got["series"]+got["series_dropped"] != float64(300*of) {
			t.Errorf("%d series; %v and %v dropped of %d", n, got["series"], got["series_dropped"], 300*of)
		}
		if n := got.of("has_leader"); n[0] != "has_leader n000" || len(n) != 100/of {
			t.Errorf("of these: %v", n)
		}
		if n := len(w.collector.byRow); n > 100/of+1 {
			t.Errorf("%d rows are counted", n)
		}
	})
}

// TestNoRowBehindTheBoundIsShown has three rows, of which the third would fit in the place of the second: it is left out,
// because else the rows shown would depend on what the second has now.
func TestNoRowBehindTheBoundIsShown(t *testing.T) {
	t.Parallel()
	watch(t, "name~.", nil, func(w *watched) {
		w.push(true, led("a", "host-1"))
		one := w.scrape()["series"]
		w.collector.mu.Lock()
		w.collector.o.Series = int(2*one + 1)
		w.collector.mu.Unlock()
		b := led("b", "host-1")
		b.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "w", Since: sources.Stamp{At: time.Now(), How: sources.Told}}}}
		w.push(false, led("a", "host-1"), b, led("c", "host-1"))
		got := w.scrape()
		got.wants(t, samples{"series": one, "series_dropped": 2*one + 2, "has_leader a": 1, "has_leader b": none, "has_leader c": none})
		w.push(false, led("b", "host-1"))
		w.scrape().wants(t, samples{"series": 2 * one, "series_dropped": one, "has_leader b": 1, "has_leader c": none})
	})
}

func TestAStandbyShowsOnlyItself(t *testing.T) {
	t.Parallel()
	var health atomic.Pointer[record.Health]
	health.Store(&record.Health{})
	var takes atomic.Bool
	copied := time.Time{}
	watch(t, "name~.", func(o *Options) {
		o.Store = func() (bool, time.Time) { return takes.Load(), copied }
		o.Recorder = func() record.Health { return *health.Load() }
	}, func(w *watched) {
		w.push(true, led("a", "host-1"))
		got := w.scrape()
		got.wants(t, samples{"standby": 1, "events_total": 3, "recorder_up": none, "store_up": none, "source_up": none})
		if text := w.exposition(expfmt.NewFormat(expfmt.TypeTextPlain)); strings.Contains(text, "redis") || strings.Contains(text, "leader") {
			t.Errorf("a standby shows a source:\n%s", text)
		}
		health.Store(&record.Health{Active: true, Written: time.Now(), Unwritten: 3, Waiting: 7, Lost: 11, Holes: 1})
		got = w.scrape()
		got.wants(t, samples{"standby": 0, "recorder_up": 1, "recorder_unwritten_events": 3, "recorder_unwritten_inputs": 7, "recorder_lost_inputs_total": 11,
			"recorder_holes_total": 1, "has_leader a": 1, "store_up": 0, "store_lag_seconds": none})
		if text, err := w.collector.Ready(); err != nil || !strings.Contains(text, "takes nothing") {
			t.Errorf("without its store: %q, %v", text, err)
		}
		takes.Store(true)
		copied = time.Now()
		if text, err := w.collector.Ready(); err != nil || text != "recording" {
			t.Errorf("%q, %v", text, err)
		}
		health.Store(&record.Health{Active: true, Stopped: true})
		w.scrape().wants(t, samples{"recorder_up": 0, "store_up": 1, "store_lag_seconds": 1})
		if _, err := w.collector.Ready(); err == nil {
			t.Error("it is ready although it cannot record")
		}
		if err := w.collector.Alive(); err != nil {
			t.Error(err)
		}
	})
}
