package app

import (
	"maps"
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/record"
	"coordtop/internal/localserver"
)

func TestARecorderThatMayOnlyReadSaysSoAndKeepsNobodyFromRecording(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	g := newStore(t)
	writer := g.member("postgres")
	g.start(writer)
	run, _ := g.recorder(0)
	g.ask("create role reader login; grant usage on schema coordtop to reader; grant select on all tables in schema coordtop to reader; select 1")
	reader := g.member("reader")
	g.start(reader)
	reader.errs.await(t, func(text string) bool {
		return strings.Contains(text, "this user may not record") && strings.Contains(text, "see coordtop help team")
	})
	_ = writer.cmd.Process.Kill()
	_ = writer.cmd.Wait() // it was killed
	g.start(writer)
	if _, m := g.recorder(run); m != writer {
		t.Error("the reader records")
	}
}

func TestARecorderWaitsForAStoreThatIsAwayAndRecordsOnceItIsThere(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	g := newStore(t)
	g.server.Kill()
	m := g.member("postgres")
	g.start(m)
	m.errs.await(t, func(text string) bool {
		return strings.Contains(text, "cannot stand by as a recorder, and tries again: the store postgres://")
	})
	if err := g.server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.recorder(0)
	for _, wrong := range []string{"history.direct", "no such file"} { // neither a pooler nor the spool was the reason
		if text := m.errs.String(); strings.Contains(text, wrong) {
			t.Errorf("it says %q", text)
		}
	}
}

func TestASpoolIsCopiedOnlyFromTheLastRunOnWhateverTheClocksSay(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return time.Unix(1e6, 0).Add(time.Duration(minutes) * time.Minute) }
	run := func(id int64, host string, pid, from, to int) history.Run {
		return history.Run{ID: id, Host: host, PID: pid, Span: history.Span{From: at(from), To: at(to)}}
	}
	spool := []history.Run{run(1, "here", 1, 50, 60), run(2, "here", 1, 61, 70), run(3, "here", 1, 0, 5)} // the clock was set back by an hour
	spool[2].Live = true
	term := &recorderTerm{}
	term.spooled(4)
	term.spooled(3)
	for _, c := range []struct {
		what string
		last history.Run
		want map[int64]time.Time
	}{
		{"another recorder was the last", run(9, "there", 1, 55, 65), map[int64]time.Time{1: record.EndOfTime, 2: record.EndOfTime}},
		{"an earlier process with this spool was the last", run(9, "here", 1, 55, 58), map[int64]time.Time{1: at(58)}},
		{"its second run was the last", run(9, "here", 1, 62, 63), map[int64]time.Time{1: record.EndOfTime, 2: at(63)}},
		{"this term has begun a run", run(9, "here", 1, 1, 2), map[int64]time.Time{1: record.EndOfTime, 2: record.EndOfTime, 3: at(2)}},
	} {
		if got := term.since(c.last, spool); !maps.EqualFunc(got, c.want, time.Time.Equal) {
			t.Errorf("%s: %v instead of %v", c.what, got, c.want)
		}
	}
}
