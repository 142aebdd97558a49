package record

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"coordtop/internal/ground/raced"
	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/sources/tape"
)

const (
	kills    = 100
	killName = "COORDTOP_TEST_RECORD_UNTIL_KILLED"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(killName); path != "" {
		recordUntilKilled(path)
		return
	}
	os.Exit(m.Run())
}

// recordUntilKilled has owners change and notes one thing after the other, writes all the time, and prints
// the number of the last event that was written.
func recordUntilKilled(path string) {
	ctx := context.Background()
	inputs := sources.NewInputBuffer(0, 0)
	hub := sources.NewHub(ctx, sources.HubOptions{Recorder: inputs})
	now := time.Now()
	store, err := sqlite.Begin(ctx, sqlite.Options{Path: path, Ours: true}, history.Run{Span: history.Span{From: now, To: now}, PID: os.Getpid()})
	if err != nil {
		slog.Error("begin", "err", err)
		os.Exit(1)
	}
	r := newBatcher(hub, store, tape.EncoderOptions{}, now, store.Before())
	owned := func(n int) sources.Change {
		p := &sources.Primitive{Ref: sources.Ref{Source: "s", Name: strconv.Itoa(n % 7)}, Kind: sources.KindElection, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, At: sources.Wall()}
		if n%3 > 0 {
			p.Taken, p.Owners = 1, []sources.Owner{{ID: strconv.Itoa(n), Fence: uint64(n)}}
		}
		return sources.Change{At: p.At, Alive: []string{""}, Set: []*sources.Primitive{p}}
	}
	script := sourcetest.NewScript()
	script.OnConnect(func() []sources.Change { return []sources.Change{{Relists: true, Synced: true, Alive: []string{""}}} })
	go sources.Run(ctx, hub, []sources.Spec{{Name: "s", Type: "redis", Address: "a:1", Source: script}}) //nolint:errcheck // it ends with the process
	for n := 1; ; n++ {
		script.Push(owned(n))
		for range 20 {
			hub.AddEvent(sources.Event{Kind: sources.EventAction, Ref: sources.Ref{Source: "s", Name: strconv.Itoa(n % 7)}, Detail: "something that takes some room"})
		}
		if n%9 == 0 {
			r.group.open = false // another group
		}
		shown := len(hub.State().Rows) > 0
		if err := r.flush(time.Now(), inputs.Take); err != nil {
			slog.Error("write", "err", err)
			os.Exit(1)
		}
		if shown { // it is killed some time after the first line
			fmt.Println(r.derived.seq)
		}
	}
}

// TestAKilledRecorderLosesNothingThatItWrote kills a recorder again and again, at random instants.
func TestAKilledRecorderLosesNothingThatItWrote(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "each start of the recorder takes half a second then")
	if testing.Short() {
		t.Skip("it starts a recorder a hundred times")
	}
	path := filepath.Join(t.TempDir(), "state", "history.db")
	s := sqlite.NewReader(path)
	defer closed(t, s)
	compared := 0
	for n := range kills {
		written := killedAfter(t, path, time.Duration(rand.IntN(40))*time.Millisecond)
		runs, err := s.Runs(t.Context())
		if err != nil || len(runs) == 0 || runs[len(runs)-1].Live {
			t.Fatalf("kill %d: runs %+v, %v", n, runs, err)
		}
		events, err := s.Events(t.Context(), time.Now().Add(time.Hour), 2000, 0, history.EventFilter{})
		if err != nil || written > 0 && !slices.ContainsFunc(events, func(e history.Event) bool { return e.Seq == written && e.Run == runs[len(runs)-1].ID }) {
			t.Fatalf("kill %d: %d events, %v: %d was written", n, len(events), err, written)
		}
		last, err := history.LastKnown(t.Context(), s, nil, nil)
		if err != nil && !errors.Is(err, history.ErrNothing) || written > 0 && last == nil {
			t.Fatalf("kill %d: the inputs: %v", n, err)
		}
		if written > 0 {
			compared += sameAsReplayed(t, s, last, runs[len(runs)-1])
		}
	}
	if t.Logf("%d terms were compared", compared); compared == 0 {
		t.Error("nothing was compared")
	}
}

// sameAsReplayed compares the terms of the last run with those that a replay of its inputs ends with.
func sameAsReplayed(t *testing.T, s *sqlite.Reader, last *sources.Keyframe, run history.Run) (compared int) {
	t.Helper()
	for _, row := range sources.NewReplayerAt(last, sources.HubOptions{}).Hub().State().Rows {
		lanes, err := s.Lanes(t.Context(), []sources.Ref{row.Ref}, history.Span{From: run.From, To: run.To.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		stored := slices.DeleteFunc(lanes[0].Terms, func(t sources.Term) bool { return t.Start.At.Before(run.From) })
		if n := len(stored); n > 0 && stored[n-1].End.How == sources.Bound { // it ran when the recorder was killed
			stored[n-1].End = sources.Stamp{}
		}
		if a, b := said(stored[max(len(stored)-len(row.Terms), 0):]), said(row.Terms); a != b {
			t.Fatalf("%s: stored is\n%s\nand replayed\n%s", row.Name, a, b)
		}
		compared += len(row.Terms)
	}
	return compared
}

func said(terms []sources.Term) (text string) {
	for _, t := range terms {
		text += fmt.Sprintln(t.Owner, t.Start.At.UnixNano(), t.Start.How, t.End.At.UnixNano(), t.End.How, t.Cause)
	}
	return text
}

// killedAfter runs a recorder, kills it so long after it wrote for the first time, and returns the last event
// that it said it had written.
func killedAfter(t *testing.T, path string, d time.Duration) (written uint64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), killName+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var kill *time.Timer
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if kill == nil {
			kill = time.AfterFunc(d, func() { _ = cmd.Process.Kill() })
		}
		if written, err = strconv.ParseUint(lines.Text(), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the recorder ended by itself")
	}
	return written
}
