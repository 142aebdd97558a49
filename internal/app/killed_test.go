package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/history"
	"coordtop/internal/history/record"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// killsName names the variable with how often a recorder is killed on a file of each size, and killSizes that with the
// sizes, in MB with blanks between.
const (
	killsName = "COORDTOP_TEST_KILLS"
	killSizes = "COORDTOP_TEST_KILL_SIZES"
)

// taken is a take-over of a key: when its command was sent, and answered.
type taken struct {
	owner          string
	sent, answered time.Time
}

// turns has the owners of keys change.
type turns struct {
	mu  sync.Mutex
	all map[string][]taken
}

const turnKeys = 50

func turnKey(n int) string { return fmt.Sprintf("app:leader:%d", n%turnKeys) }

func (l *turns) run(ctx context.Context, c *redis.Client, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		now := taken{owner: fmt.Sprintf("host-%d:1", n), sent: time.Now()}
		if c.Set(ctx, turnKey(n), now.owner, time.Minute).Err() != nil {
			return
		}
		now.answered = time.Now()
		l.mu.Lock()
		l.all[turnKey(n)] = append(l.all[turnKey(n)], now)
		l.mu.Unlock()
		<-ticker.C
	}
}

// of are the take-overs of a key that were answered in a span.
func (l *turns) of(key string, from, to time.Time) []taken {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.all[key]), func(t taken) bool { return t.answered.Before(from) || t.answered.After(to) })
}

// TestARecorderKilledAtAnyInstantHasAllButTheLastHalfSecond records a server on which owners change all the time, and
// kills the recorder between 0.1 and 5 s after it has listed all.
func TestARecorderKilledAtAnyInstantHasAllButTheLastHalfSecond(t *testing.T) {
	t.Parallel()
	kills, sizes, shortest, longest := 2, []string{"0"}, 700*time.Millisecond, time.Second
	if text := os.Getenv(killsName); text != "" {
		kills, _ = strconv.Atoi(text)
		sizes, shortest, longest = strings.Fields(os.Getenv(killSizes)), 100*time.Millisecond, 5*time.Second
	}
	for _, size := range sizes {
		t.Run(size+" MB", func(t *testing.T) {
			megabytes, err := strconv.Atoi(size)
			if err != nil {
				t.Fatal(err)
			}
			server := localserver.RedisForTest(t, localserver.RedisOptions{})
			c := writer(t, server.Addr())
			home := t.TempDir()
			path := filepath.Join(home, ".local", "state", "coordtop", historyName)
			fillRecording(t, path, server.Addr(), int64(megabytes)<<20)
			ctx, cancel := context.WithCancel(t.Context())
			l := &turns{all: map[string][]taken{}}
			var running sync.WaitGroup
			running.Go(func() { l.run(ctx, c, 2*time.Millisecond) })
			defer running.Wait()
			defer cancel()
			for len(l.of(turnKey(turnKeys-1), time.Time{}, time.Now())) == 0 {
				time.Sleep(time.Millisecond)
			}
			s := sqlite.NewReader(path)
			defer func() { _ = s.Close() }()
			missing, all := 0, 0
			add := func(m, a int) { missing, all = missing+m, all+a }
			for n := range kills { // a replay has it all at once, and the Timeline once the next one records
				listed, killed := killedRecorder(t, home, server, c, shortest+rand.N(longest-shortest))
				add(l.compare(t, fmt.Sprint("replay ", n), replayed(t, s), listed, killed))
				killedRecorder(t, home, server, c, 2*time.Second)
				add(l.compare(t, fmt.Sprint("terms ", n), stored(t, s, history.Span{From: listed, To: killed}), listed, killed))
			}
			if t.Logf("%d of %d take-overs were overwritten before they were read", missing, all); missing > all/50 || all == 0 && os.Getenv(killsName) != "" {
				t.Errorf("of %d take-overs %d are not recorded", all, missing)
			}
		})
	}
}

// killedRecorder records for so long behind the first whole listing.
func killedRecorder(t *testing.T, home string, server *localserver.Redis, c *redis.Client, d time.Duration) (listed, killed time.Time) {
	t.Helper()
	scans := func() int {
		info, _ := c.Info(t.Context(), "commandstats").Result()
		_, text, _ := strings.Cut(info, "cmdstat_scan:calls=")
		text, _, _ = strings.Cut(text, ",")
		n, _ := strconv.Atoi(text)
		return n
	}
	before := scans()
	cmd := command(t, "record", server.URL()+"?keys=app:leader:*")
	cmd.Env = append(cmd.Env, "HOME="+home)
	errs := newStream()
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(longEnough); scans() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("nothing is listed: %s", errs)
		}
	}
	listed = time.Now()
	time.Sleep(d)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed = time.Now()
	_ = cmd.Wait() // it was killed
	return listed, killed
}

// replayed are the terms that a replay of the last run ends with.
func replayed(t *testing.T, s *sqlite.Reader) map[string][]sources.Term {
	t.Helper()
	last, err := history.LastKnown(t.Context(), s, nil, nil)
	if errors.Is(err, history.ErrNothing) && os.Getenv(killsName) == "" {
		return nil // on a machine that does much else
	}
	if err != nil {
		t.Fatal(err)
	}
	replay := sources.NewReplayerAt(last, sources.HubOptions{})
	defer replay.Hub().Close()
	terms := map[string][]sources.Term{}
	for _, row := range replay.Hub().State().Rows {
		terms[row.Name] = row.Terms
	}
	return terms
}

// stored are the terms of a span.
func stored(t *testing.T, s *sqlite.Reader, span history.Span) map[string][]sources.Term {
	t.Helper()
	totals, err := s.Totals(t.Context(), span)
	if err != nil {
		t.Fatal(err)
	}
	var refs []sources.Ref
	for _, total := range totals {
		refs = append(refs, total.Ref)
	}
	lanes, err := s.Lanes(t.Context(), refs, span)
	if err != nil {
		t.Fatal(err)
	}
	terms := map[string][]sources.Term{}
	for _, lane := range lanes {
		terms[lane.Ref.Name] = lane.Terms
	}
	return terms
}

// compare compares what is recorded from the listing on with what happened until half a second before the kill.
func (l *turns) compare(t *testing.T, what string, terms map[string][]sources.Term, listed, killed time.Time) (missing, all int) {
	t.Helper()
	late := time.Duration(0)
	for n := range turnKeys {
		key := turnKey(n)
		happened, recorded := l.of(key, time.Time{}, time.Now()), terms[key]
		at := -1
		for _, term := range recorded {
			i := slices.IndexFunc(happened, func(h taken) bool { return h.owner == term.Owner.ID })
			if i >= 0 && i > at && (term.Start.How == sources.AtLeast || !term.Start.Earliest().After(happened[i].answered.Add(time.Second))) &&
				(term.Start.At.Before(listed) || !term.Start.At.Before(happened[i].sent.Add(-time.Millisecond))) {
				at = i
			} else if !strings.HasPrefix(term.Owner.ID, "earlier-") {
				t.Errorf("%s: of %s is recorded %+v: it is false, or out of order (%d of %d after %d)", what, key, term, i, len(happened), at)
			}
		}
		if os.Getenv(killsName) == "" { // a machine that does much else may be late
			continue
		}
		due := l.of(key, listed, killed.Add(-500*time.Millisecond))
		all += len(due)
		for _, h := range due {
			if !slices.ContainsFunc(recorded, func(r sources.Term) bool { return r.Owner.ID == h.owner }) {
				missing++
			}
		}
		if n := len(due); n > 0 && (at < 0 || happened[at].sent.Before(due[n-1].sent)) {
			late = max(late, killed.Sub(due[n-1].answered))
		}
	}
	if late > 0 {
		t.Errorf("%s, killed %v after the listing: what happened %v before is missing", what, killed.Sub(listed), late)
	}
	return missing, all
}

// fillRecording makes a recording of the same server that has about so many bytes.
func fillRecording(t *testing.T, path, addr string, size int64) {
	t.Helper()
	if size == 0 {
		return
	}
	inputs := sources.NewInputBuffer(0, 0)
	hub := sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs})
	defer hub.Close()
	script := sourcetest.NewScript()
	script.OnConnect(func() []sources.Change { return []sources.Change{{Relists: true, Synced: true, Alive: []string{""}}} })
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		_ = sources.Run(ctx, hub, []sources.Spec{{Name: "redis", Type: "redis", Address: addr, Source: script}})
	})
	r := record.New(record.Options{Hub: hub, Inputs: inputs, Begin: func(ctx context.Context) (record.Output, error) {
		now := time.Now()
		return sqlite.Begin(ctx, sqlite.Options{Path: path, Ours: true}, history.Run{Span: history.Span{From: now, To: now}, Host: "host", PID: os.Getpid()})
	}})
	running.Go(func() {
		if err := r.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	for n := 0; ; n++ {
		if n%100 == 0 {
			if info, err := os.Stat(path); err == nil && info.Size() >= size {
				break
			}
			time.Sleep(5 * time.Millisecond) // 20,000 changes a second
		}
		p := &sources.Primitive{Ref: sources.Ref{Source: "redis", Space: "0", Name: turnKey(n)}, Kind: sources.KindElection, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, At: sources.Wall(), Taken: 1}
		p.Owners = []sources.Owner{{ID: fmt.Sprintf("earlier-%d:1", n), Lease: time.Minute}}
		script.Push(sources.Change{At: p.At, Alive: []string{""}, Set: []*sources.Primitive{p}})
	}
	cancel()
	running.Wait()
	info, err := os.Stat(path)
	t.Logf("the recording has %d MB, %v", cmp.Or(info.Size()>>20, 0), err)
}
