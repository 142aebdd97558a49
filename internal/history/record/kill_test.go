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
	"strconv"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
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

// recordUntilKilled notes one thing after the other, writes each 5 ms, and prints the
// number of the last event that was written.
func recordUntilKilled(path string) {
	ctx := context.Background()
	inputs := sources.NewRecorder(0, 0)
	hub := sources.NewHub(ctx, sources.HubOptions{Recorder: inputs})
	now := time.Now()
	store, err := sqlite.Begin(ctx, sqlite.Options{Path: path, Ours: true}, history.Run{Span: history.Span{From: now, To: now}, PID: os.Getpid()})
	if err != nil {
		slog.Error("begin", "err", err)
		os.Exit(1)
	}
	r := newRun(hub, store, sources.EncoderOptions{}, now, store.Before())
	for n := 1; ; n++ {
		for range 20 {
			hub.AddEvent(sources.Event{Kind: sources.EventAction, Ref: sources.Ref{Source: "s", Name: strconv.Itoa(n % 7)}, Detail: "something that takes some room"})
		}
		if n%9 == 0 {
			r.group.open = false // another group
		}
		if err := r.flush(ctx, time.Now(), inputs.Take); err != nil {
			slog.Error("write", "err", err)
			os.Exit(1)
		}
		fmt.Println(r.derived.seq)
	}
}

// TestAKilledRecorderLosesNothingThatItWrote kills a recorder again and again, at random instants.
func TestAKilledRecorderLosesNothingThatItWrote(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "history.db")
	s := sqlite.Open(path)
	defer closed(t, s)
	times := kills
	if raced { // each start of the recorder takes half a second then
		times = 10
	}
	for n := range times {
		written := killedAfter(t, path, time.Duration(rand.IntN(40))*time.Millisecond)
		runs, err := s.Runs(t.Context())
		if err != nil || len(runs) == 0 || runs[len(runs)-1].Live {
			t.Fatalf("kill %d: runs %+v, %v", n, runs, err)
		}
		events, err := s.Events(t.Context(), time.Now().Add(time.Hour), 1, 0, history.EventFilter{})
		if err != nil || written > 0 && (len(events) == 0 || events[0].Seq < written) {
			t.Fatalf("kill %d: last event %+v, %v: %d was written", n, events, err, written)
		}
		last, err := history.End(t.Context(), s, nil)
		if err != nil && !errors.Is(err, history.ErrNothing) || written > 0 && last == nil {
			t.Fatalf("kill %d: the inputs: %v", n, err)
		}
	}
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
