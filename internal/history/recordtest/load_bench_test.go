package recordtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/history"
	"coordtop/internal/history/postgres"
	"coordtop/internal/history/record"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// The team that is measured: 200 servers with 250 leaders each, of which 1,000 a second change.
const (
	loadSources = 200
	loadEach    = 250
	loadPace    = 1000
)

// BenchmarkTeamRecorder records that load for COORDTOP_BENCH_SECONDS (60) into a store, as `coordtop record` does, with
// ever more changes of owners, the rest are renewals: 12 a second are a million terms a day.
func BenchmarkTeamRecorder(b *testing.B) {
	seconds, err := strconv.Atoi(os.Getenv("COORDTOP_BENCH_SECONDS"))
	if err != nil {
		seconds = 60
	}
	for _, moves := range []int{12, 100, 1000} {
		b.Run(fmt.Sprintf("%d new owners a second", moves), func(b *testing.B) {
			for b.Loop() {
				loaded(b, moves, time.Duration(seconds)*time.Second)
			}
		})
	}
}

// loaded measures one load.
func loaded(b *testing.B, moves int, length time.Duration) {
	server := localserver.PostgresForTest(b, localserver.PostgresOptions{Config: []string{"fsync = on", "synchronous_commit = on", "full_page_writes = on"}})
	starts := time.Now()
	push, stop := recording(b, postgres.Options{Address: server.URL()})
	store := postgres.NewReader(postgres.Options{Address: server.URL()})
	defer store.Close()
	for statsOf(b, server.URL())["running"] < loadSources*loadEach || behind(b, store) > 3*time.Second { // the first listing
		<-time.After(time.Second)
	}
	b.Logf("the first listing is in the store after %v", time.Since(starts).Round(time.Second))
	before, began := statsOf(b, server.URL()), time.Now()
	own, servers := cpuOf(b, os.Getpid()), serverCPU(b)
	lag, pushed, owed := time.Duration(0), 0, 0
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for time.Since(began) < length {
		<-ticker.C
		for want := int(time.Since(began).Seconds() * loadPace); pushed < want; pushed++ {
			moved := 0
			if owed += moves; owed >= loadPace {
				owed, moved = owed-loadPace, 1
			}
			push(pushed*7919%(loadSources*loadEach), moved)
		}
		if pushed%5000 < loadPace/100 {
			lag = max(lag, behind(b, store))
		}
	}
	took, after := time.Since(began).Seconds(), statsOf(b, server.URL())
	grown := func(what string) float64 { return float64(after[what]-before[what]) / took }
	for unit, v := range map[string]float64{
		"%core": 100 * (cpuOf(b, os.Getpid()) - own).Seconds() / took, "%core-postgres": 100 * (serverCPU(b) - servers).Seconds() / took,
		"WAL-GB/day": grown("wal") * 86400 / 1e9, "rows-GB/day": grown("size-rows") * 86400 / 1e9, "blocks-GB/day": grown("size-blocks") * 86400 / 1e9, "inputs-GB/day": grown("size-inputs") * 86400 / 1e9,
		"commits/s": grown("commits"), "rows/s": grown("rows"), "MB": float64(resident(b)) / 1e6, "s-behind-at-most": lag.Seconds(),
	} {
		b.ReportMetric(v, unit)
	}
	stop()
	asked := time.Now()
	if _, err := history.LastKnown(b.Context(), store, nil, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(asked).Milliseconds()), "ms-state-at-an-instant")
}

// recording records that team into a store. push renews a leader, or makes one of the next program.
func recording(b *testing.B, o postgres.Options) (push func(i, moved int), stop func()) {
	spool := sqlite.Options{Path: filepath.Join(b.TempDir(), "state", "spool.db"), Ours: true, Limits: sqlite.Limits{Keep: time.Hour}}
	inputs := sources.NewInputBuffer(0, 0)
	hub := sources.NewHub(b.Context(), sources.HubOptions{Recorder: inputs})
	ctx, cancel := context.WithCancel(b.Context())
	scripts, specs := make([]*sourcetest.Script, loadSources), make([]sources.Spec, loadSources)
	for n := range scripts {
		scripts[n] = sourcetest.NewScript()
		scripts[n].OnConnect(func() []sources.Change {
			all := sources.Change{Scope: "sc", Alive: []string{"sc"}, Synced: true}
			for i := range loadEach {
				all.Set = append(all.Set, leads(n*loadEach+i, 0))
			}
			return []sources.Change{{Scope: "sc", Relists: true, Alive: []string{"sc"}}, all}
		})
		specs[n] = sources.Spec{Name: fmt.Sprintf("source-%d", n), Type: "redis", Address: fmt.Sprintf("h%d:1", n), Source: scripts[n]}
	}
	recorder := record.New(record.Options{Hub: hub, Inputs: inputs, Begin: func(ctx context.Context) (record.Output, error) {
		return sqlite.Begin(ctx, spool, history.Run{Span: history.Span{From: time.Now(), To: time.Now()}})
	}})
	file := sqlite.NewReader(spool.Path)
	forwarder := record.NewForwarder(forwarded(file, o, make(chan struct{})))
	var ends []chan error
	for _, f := range []func() error{func() error { return sources.Run(ctx, hub, specs) }, func() error { return recorder.Run(ctx) }, func() error { return forwarder.Run(ctx) }} {
		done := make(chan error, 1)
		ends = append(ends, done) // received in stop
		go func() { done <- f() }()
	}
	for _, active := forwarder.Status(); !active; _, active = forwarder.Status() {
		<-time.After(100 * time.Millisecond)
	}
	owners := make([]int, loadSources*loadEach)
	push = func(i, moved int) {
		owners[i] += moved
		scripts[i/loadEach].Push(sources.Change{Scope: "sc", Alive: []string{"sc"}, Set: []*sources.Primitive{leads(i, owners[i])}})
	}
	return push, func() {
		text, _ := forwarder.Status()
		if why, _ := recorder.Recording(); text+why != "" {
			b.Error(text, why)
		}
		cancel()
		for _, done := range ends {
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				b.Error(err)
			}
		}
		hub.Close()
		_ = file.Close()
	}
}

// leads is a primitive that was renewed now, with one of its owners.
func leads(i, owner int) *sources.Primitive {
	now := sources.Wall()
	return &sources.Primitive{
		Ref: sources.Ref{Source: fmt.Sprintf("source-%d", i/loadEach), Space: "0", Name: fmt.Sprintf("team-%d:leader:service-%d", i%40, i)}, Kind: sources.KindElection,
		Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, Taken: 1, At: now,
		Owners: []sources.Owner{{ID: fmt.Sprintf("host-%d:%d", (i+owner)%200, 4000+i), Label: fmt.Sprintf("host-%d", (i+owner)%200), Fence: uint64(owner + 1), Lease: 15 * time.Second,
			Expires: sources.Stamp{At: now.Add(15 * time.Second), How: sources.Told}, Renewed: sources.Stamp{At: now, How: sources.Seen}}},
	}
}

func statsOf(b *testing.B, url string) map[string]int64 {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	var wal, size, commits, rows, termRows, blocks, groups, running int64
	err = conn.QueryRow(b.Context(), `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint, pg_database_size(current_database()), xact_commit, tup_inserted + tup_updated + tup_deleted,
		(select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'coordtop' and relkind = 'r' and relname ~ '^(term|event)_'),
		pg_total_relation_size('coordtop.body') + pg_total_relation_size('coordtop.block') + pg_total_relation_size('coordtop.recent') + pg_total_relation_size('coordtop.running'),
		pg_total_relation_size('coordtop.gop') + pg_total_relation_size('coordtop.chunk') + pg_total_relation_size('coordtop.tail'), (select count(*) from coordtop.term where until is null)
		from pg_stat_database where datname = current_database()`).Scan(&wal, &size, &commits, &rows, &termRows, &blocks, &groups, &running)
	if err != nil {
		b.Fatal(err)
	}
	return map[string]int64{"wal": wal, "size": size, "commits": commits, "rows": rows, "size-rows": termRows, "size-blocks": blocks, "size-inputs": groups, "running": running}
}

// ticks of /proc/PID/stat in a second.
const ticks = 100

// cpuOf returns the CPU time that a process has used.
func cpuOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	if pid == os.Getpid() {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	f := stat(pid)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11]) // absent: the process has ended
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * time.Second / ticks
}

// stat returns the fields of /proc/PID/stat from the state on; nil: the process has ended.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// serverCPU returns the CPU time of all children and their children that still run.
func serverCPU(b *testing.B) (sum time.Duration) {
	b.Helper()
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		b.Skip("needs /proc: ", runtime.GOOS)
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if f := stat(pid); len(f) > 1 {
				parent, _ := strconv.Atoi(f[1])
				children[parent] = append(children[parent], pid)
			}
		}
	}
	for list := children[os.Getpid()]; len(list) > 0; list = list[1:] {
		sum += cpuOf(b, list[0])
		list = append(list, children[list[0]]...)
	}
	return sum
}

// resident returns the memory of this process in bytes.
func resident(b *testing.B) int {
	b.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip("needs /proc: ", runtime.GOOS)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize()
}

// behind is the age of the last write to a store.
func behind(b *testing.B, store *postgres.Reader) time.Duration {
	b.Helper()
	runs, err := store.Runs(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(runs[len(runs)-1].To)
}
