package foreground_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/foreground"
	"coordtop/sources"
)

// script is an Operator that does at once what it is asked for, unless a test says otherwise.
type script struct {
	instead map[action.Verb]action.Run // what becomes of a verb: Phase and Text
	wake    chan struct{}

	mu     sync.Mutex
	status action.Status
	until  time.Time // the end of trust in what it holds
	asked  []action.Request
	closed int
	err    io.Writer // of Keep
}

func newScript() *script {
	return &script{instead: map[action.Verb]action.Run{}, wake: make(chan struct{}, 1), err: &bytes.Buffer{}}
}

func (s *script) Describe(context.Context, action.Request) (action.Effect, error) {
	return action.Effect{NeedsName: "its name"}, nil
}

func (s *script) Start(r action.Request) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	run, ok := s.instead[r.Verb]
	if !ok {
		run.Phase = action.Seen
		switch r.Verb {
		case action.Resign:
			s.status.Holdings = nil
		case action.Proclaim:
			s.status.Holdings = []action.Holding{{Ref: r.Target.Ref, Owner: "#1", Data: r.Data}}
		default:
			s.status.Holdings = []action.Holding{{Ref: r.Target.Ref, Owner: "#1", Data: r.Data, Permits: r.Permits, Until: s.until}}
		}
	}
	run.ID, run.Request = uint64(len(s.asked)), r
	s.status.Runs = append(slices.Clone(s.status.Runs), run)
	return run.ID, nil
}

func (s *script) CallOff(id uint64) {
	s.change(func(st *action.Status) {
		st.Runs[id-1].Phase = action.Dropped
	})
}

func (s *script) Status() *action.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.status
	st.Runs = slices.Clone(st.Runs)
	return &st
}

func (s *script) Wake() <-chan struct{} { return s.wake }

func (s *script) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
	return nil
}

// change is something that happens by itself.
func (s *script) change(f func(*action.Status)) {
	s.mu.Lock()
	f(&s.status)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// rig is a Keep that runs.
type rig struct {
	t     *testing.T
	op    *script
	lines chan string
	out   *bufio.Scanner
	stop  context.CancelFunc
	err   chan error
}

type line struct {
	Event  string
	Data   *struct{ Text string }
	Detail *string
}

func setup(t *testing.T, op *script) *rig {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	hub := sources.NewHub(ctx, sources.HubOptions{})
	row := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindElection}}
	r := &rig{t: t, op: op, lines: make(chan string), stop: cancel, err: make(chan error, 1)}
	reader, writer := io.Pipe()
	r.out = bufio.NewScanner(reader)
	done := make(chan struct{})
	go func() { // joined by the clean-up
		defer close(done)
		defer writer.Close()
		r.err <- foreground.Keep(ctx, foreground.Options{
			Operator: op, View: hub, Row: row,
			Lines: r.lines, Out: writer, Err: op.err,
		}, action.Request{Verb: action.Campaign, Data: []byte("hello")})
	}()
	t.Cleanup(func() {
		cancel()
		reader.Close()
		<-done
		hub.Close()
	})
	return r
}

// says waits for the next line and checks its event.
func (r *rig) says(event string) line {
	r.t.Helper()
	var l line
	if !r.out.Scan() {
		r.t.Fatalf("the lines ended (%v), want %s", r.out.Err(), event)
	}
	if err := json.Unmarshal(r.out.Bytes(), &l); err != nil {
		r.t.Fatal(err)
	}
	if l.Event != event {
		r.t.Fatalf("it says %s, want %s", r.out.Bytes(), event)
	}
	return l
}

func (r *rig) ends(want error) {
	r.t.Helper()
	if err := <-r.err; !errors.Is(err, want) {
		r.t.Errorf("it ended with %v, want %v", err, want)
	}
}

func TestAReaderOfStandardErrorThatReadsNoMoreDelaysNoGrantAndNoEnd(t *testing.T) {
	t.Parallel()
	op := newScript()
	op.instead[action.Campaign] = action.Run{Phase: action.Waiting, Text: "no answer yet"}
	errs, writer := io.Pipe()
	op.err = writer
	r := setup(t, op)
	defer errs.Close()
	if _, err := errs.Read(make([]byte, 1)); err != nil { // of a sentence
		t.Fatal(err)
	}
	op.change(func(st *action.Status) {
		st.Runs[0].Phase = action.Seen
		st.Holdings = []action.Holding{{Ref: sources.Ref{Source: "s", Name: "x"}, Owner: "#1"}}
	})
	r.says("acquired")
	r.lines <- "resign"
	r.says("resigning")
	r.says("resigned")
	r.ends(nil)
}

func TestEachLineIsAnsweredInItsOrder(t *testing.T) {
	t.Parallel()
	r := setup(t, newScript())
	if l := r.says("acquired"); l.Data.Text != "hello" {
		t.Errorf("it says %+v", l)
	}
	r.lines <- "proclaim  draining now"
	if l := r.says("proclaimed"); l.Data.Text != " draining now" {
		t.Errorf("it says %+v", l)
	}
	for _, odd := range []string{"abdicate", "resign now"} {
		r.lines <- odd
		r.says("refused")
	}
	r.lines <- ""
	r.lines <- "resign"
	r.says("resigning")
	r.says("resigned")
	r.ends(nil)
	for _, q := range r.op.asked {
		if q.Typed != "its name" || q.Target.Ref.Name != "x" {
			t.Errorf("%v was asked for as %+v", q.Verb, q)
		}
	}
	if reason := r.op.asked[1].Reason; reason != "standard input" {
		t.Errorf("the audit of a line says %q", reason)
	}
}

func TestALineEndsTheWaitAndOthersAreRefused(t *testing.T) {
	t.Parallel()
	op := newScript()
	op.instead[action.Campaign] = action.Run{Phase: action.Waiting}
	r := setup(t, op)
	r.lines <- "proclaim now"
	r.says("refused")
	r.lines <- "resign"
	r.says("resigned")
	r.ends(nil)
}

func TestWhatIsMissedIsNoOtherError(t *testing.T) {
	t.Parallel()
	for want, phase := range map[error]action.Phase{foreground.ErrMissed: action.Missed, nil: action.Dropped} {
		op := newScript()
		op.instead[action.Campaign] = action.Run{Phase: phase, Text: "why"}
		err := <-setup(t, op).err
		if err == nil || errors.Is(err, foreground.ErrMissed) != (want != nil) || !strings.Contains(err.Error(), "why") {
			t.Errorf("%v: %v", phase, err)
		}
	}
}

func TestWhatIsLostIsSaidOnceWithItsCause(t *testing.T) {
	t.Parallel()
	r := setup(t, newScript())
	r.says("acquired")
	r.op.change(func(st *action.Status) {
		st.Holdings = nil
		st.Runs = append(st.Runs, action.Run{ID: 2, Phase: action.Failed, Lost: true, Text: "lost after 3s", Request: st.Runs[0].Request})
	})
	if l := r.says("lost"); *l.Detail != "lost after 3s" {
		t.Errorf("it says %s", *l.Detail)
	}
	r.ends(foreground.ErrLost)
}

func TestTheEndOfTheContextResignsByClosing(t *testing.T) {
	t.Parallel()
	r := setup(t, newScript())
	r.says("acquired")
	r.stop()
	r.says("resigning")
	r.says("resigned")
	r.ends(nil)
	if r.op.closed != 1 {
		t.Errorf("the Operator was closed %d times", r.op.closed)
	}
}

// outFunc is an Out that a test looks at.
type outFunc func(text string)

func (f outFunc) Write(p []byte) (int, error) { f(string(p)); return len(p), nil }

func TestThatItIsGivenUpIsSaidBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"a line", "the lines", "the context"} {
		op := newScript()
		hub := sources.NewHub(t.Context(), sources.HubOptions{})
		defer hub.Close()
		ctx, cancel := context.WithCancel(t.Context())
		lines := make(chan string, 1)
		var events []string
		out := outFunc(func(text string) {
			var l line
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Error(err)
			}
			op.mu.Lock()
			sent := op.closed > 0 || op.asked[len(op.asked)-1].Verb == action.Resign
			op.mu.Unlock()
			if sent != (l.Event == "resigned") {
				t.Errorf("%s: %s is said, sent to the service: %v", end, l.Event, sent)
			}
			if events = append(events, l.Event); l.Event == "acquired" {
				switch end {
				case "a line":
					lines <- "resign"
				case "the lines":
					close(lines)
				default:
					cancel()
				}
			}
		})
		row := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindElection}}
		err := foreground.Keep(ctx, foreground.Options{Operator: op, View: hub, Row: row, Lines: lines, Out: out, Err: io.Discard}, action.Request{Verb: action.Campaign})
		if err != nil || !slices.Equal(events, []string{"acquired", "resigning", "resigned"}) {
			t.Errorf("%s: %v, %v", end, events, err)
		}
		cancel()
	}
}

func TestWhatRanOutIsNotSaidToBeGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		until time.Duration // from now; 0: it has no end
		want  []string
	}{
		"no end": {0, []string{"acquired", "resigning", "resigned"}}, "in time": {time.Hour, []string{"acquired", "resigning", "resigned"}}, "ran out": {-time.Second, []string{"acquired", "resigned"}},
	} {
		op := newScript()
		if c.until != 0 {
			op.until = time.Now().Add(c.until)
		}
		r := setup(t, op)
		for i, event := range c.want {
			t.Log(name)
			if r.says(event); i == 0 {
				r.lines <- "resign"
			}
		}
		r.ends(nil)
	}
}

func TestAReaderThatStandsStillDoesNotKeepUsFromGivingUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		op := newScript()
		hub := sources.NewHub(t.Context(), sources.HubOptions{})
		goOn := make(chan struct{})
		lines := make(chan string)
		out := outFunc(func(text string) {
			if !strings.Contains(text, "acquired") {
				<-goOn
			}
		})
		row := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}}}
		ended := make(chan error, 1)
		go func() { // received below
			ended <- foreground.Keep(t.Context(), foreground.Options{Operator: op, View: hub, Row: row, Lines: lines, Out: out, Err: io.Discard}, action.Request{Verb: action.Acquire})
		}()
		close(lines)
		time.Sleep(time.Second)
		synctest.Wait()
		op.mu.Lock()
		sent := op.asked[len(op.asked)-1].Verb
		op.mu.Unlock()
		if sent != action.Resign {
			t.Errorf("after a second the last request is %v", sent)
		}
		close(goOn)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		hub.Close()
	})
}

func TestALineThatIsTooLongEndsTheLines(t *testing.T) {
	t.Parallel()
	lines := foreground.Lines(t.Context(), strings.NewReader("resign\n"+strings.Repeat("x", 2<<20)+"\nresign\n"))
	var got []string
	for l := range lines {
		got = append(got, l)
	}
	if !slices.Equal(got, []string{"resign"}) {
		t.Errorf("%d lines came", len(got))
	}
}
