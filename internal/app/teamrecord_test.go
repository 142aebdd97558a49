package app

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
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
	began := time.Unix(1000, 0)
	here := history.Run{ID: 1, Host: "here", PID: 1, Span: history.Span{To: began.Add(-time.Second)}}
	ahead := history.Run{ID: 2, Host: "there", PID: 1, Span: history.Span{To: began.Add(5 * time.Minute)}}
	term := &recorderTerm{}
	term.own.Store(3)
	for _, c := range []struct {
		what string
		last history.Run
		want time.Time
	}{
		{"another recorder, whose clock is ahead, was the last", ahead, began},
		{"an earlier process with this spool was the last", here, here.To},
		{"this term has begun a run", history.Run{ID: 3, Span: history.Span{To: began.Add(time.Minute)}}, began.Add(time.Minute)},
	} {
		if got := term.copiedFrom(c.last, []history.Run{here}, began); !got.Equal(c.want) {
			t.Errorf("%s: %v instead of %v", c.what, got, c.want)
		}
	}
}
