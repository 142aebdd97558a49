package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/sources"
)

// world is what a Notifier finds, and what its receivers get.
type world struct {
	mu       sync.Mutex
	findings []diagnose.Finding
	records  bool
	fails    func(rule string) error
	got      []string // by rule
	path     string
	log      bytes.Buffer
}

func newWorld(t *testing.T) *world {
	return &world{records: true, path: filepath.Join(t.TempDir(), "state", "notified.json"), fails: func(string) error { return nil }}
}

// start runs a Notifier with rules of these names. stop ends it.
func (w *world) start(t *testing.T, names ...string) (n *Notifier, stop func()) {
	t.Helper()
	o := Options{Path: w.path, Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
		Payload: func(m *Message) []byte { return fmt.Appendf(nil, "%s %s", m.Event, m.Title) },
		Look: func() *Look {
			w.mu.Lock()
			defer w.mu.Unlock()
			if !w.records {
				return nil
			}
			return &Look{Now: time.Now(), Findings: w.findings, Known: func(sources.Ref) bool { return true }}
		}}
	for _, name := range names {
		o.Receivers = append(o.Receivers, Receiver{Rule: newRule(), Key: name, Name: name, Deliver: func(ctx context.Context, payload []byte) error {
			w.mu.Lock()
			err := w.fails(name)
			if err == nil {
				w.got = append(w.got, name+": "+string(payload))
			}
			w.mu.Unlock()
			if errors.Is(err, errSlow) {
				<-ctx.Done()
			}
			return err
		}})
	}
	n = New(o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }() // received by stop
	return n, func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func (w *world) find(findings ...diagnose.Finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.findings = findings
}

func (w *world) want(t *testing.T, lines ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.got, lines) {
		t.Errorf("got %q, want %q", w.got, lines)
	}
}

func TestARestartAndAnotherProcessTellNothingTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.find(finding(gone, "x"))
		for range 3 {
			_, stop := w.start(t, "a")
			time.Sleep(10 * time.Second)
			stop()
		}
		w.records = false
		_, stop := w.start(t, "a")
		w.find(finding(gone, "x"), finding(wait, "y"))
		time.Sleep(10 * time.Second)
		w.want(t, "a: found owner-gone x")
		w.mu.Lock()
		w.records = true // it takes over
		w.mu.Unlock()
		time.Sleep(10 * time.Second)
		stop()
		w.want(t, "a: found owner-gone x", "a: found long-wait y")
	})
}

func TestACoordtopWithOtherRulesForgetsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.find(finding(gone, "x"))
		for _, rule := range []string{"a", "b", "a", "b"} {
			_, stop := w.start(t, rule)
			time.Sleep(10 * time.Second)
			stop()
		}
		w.want(t, "a: found owner-gone x", "b: found owner-gone x")
		time.Sleep(forgetAfter)
		_, stop := w.start(t, "c")
		time.Sleep(10 * time.Second)
		stop()
		m, err := readMemory(t.Context(), w.path)
		if err != nil || len(m.Rules) != 1 {
			t.Errorf("%v, %v", m, err)
		}
	})
}

func TestAReceiverThatFailsIsTriedAgainAndReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.find(finding(gone, "x"))
		w.fails = func(rule string) error {
			if rule == "b" {
				return errors.New("it is broken")
			}
			return nil
		}
		n, stop := w.start(t, "a", "b")
		defer stop()
		time.Sleep(4 * time.Second)
		if got := n.Trouble(); got != "b: it is broken; trying again" {
			t.Error(got)
		}
		time.Sleep(time.Minute)
		if got := n.Trouble(); got != "b: it is broken; 1 message was not delivered" {
			t.Error(got)
		}
		w.want(t, "a: found owner-gone x")
		w.mu.Lock()
		w.fails = func(string) error { return nil }
		w.mu.Unlock()
		w.find(finding(gone, "x"), finding(wait, "y"))
		time.Sleep(4 * time.Second)
		if got := n.Trouble(); got != "" {
			t.Error(got)
		}
		if got := w.log.String(); strings.Count(got, "level=WARN") != 2 {
			t.Errorf("logged %s", got)
		}
	})
}

func TestAReceiverThatHangsDelaysNobodyAndLosesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fails = func(rule string) error {
			if rule == "slow" {
				return errSlow
			}
			return nil
		}
		n, stop := w.start(t, "slow", "a")
		defer stop()
		for i := range 120 { // ten a minute
			w.find(finding(wait, fmt.Sprint(i)))
			time.Sleep(6 * time.Second)
		}
		w.mu.Lock()
		found := len(w.got)
		w.mu.Unlock()
		if found < 119 {
			t.Errorf("%d messages came", found)
		}
		if got := n.Trouble(); !strings.HasPrefix(got, "slow: ") || !strings.HasSuffix(got, " messages were not delivered") {
			t.Error(got)
		}
		if n := len(n.all[0].queue); n > mostQueued {
			t.Errorf("%d wait", n)
		}
	})
}

func TestWhatWasNotDeliveredIsSentByTheNextRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.find(finding(gone, "x"))
		w.fails = func(string) error { return errSlow }
		_, stop := w.start(t, "a")
		time.Sleep(8 * time.Second)
		stop()
		w.fails = func(string) error { return nil }
		_, stop = w.start(t, "a")
		time.Sleep(8 * time.Second)
		stop()
		w.want(t, "a: found owner-gone x")
	})
}

func TestAFileThatCannotBeReadIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		if err := os.MkdirAll(filepath.Dir(w.path), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"{", `{"v":2}`} {
			if err := os.WriteFile(w.path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			n, stop := w.start(t, "a")
			time.Sleep(1500 * time.Millisecond)
			if got := n.Trouble(); !strings.HasPrefix(got, "reading what was notified: ") {
				t.Errorf("%s: %q", text, got)
			}
			stop()
		}
	})
}

func TestTheFileIsForUsAloneAndHasNoAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.find(finding(gone, "x"))
		_, stop := w.start(t, "a")
		time.Sleep(5 * time.Second)
		stop()
		info, err := os.Stat(w.path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		data, err := os.ReadFile(w.path)
		if err != nil {
			t.Fatal(err)
		}
		var m memory
		if err := json.Unmarshal(data, &m); err != nil || len(m.Rules["a"]) != 1 {
			t.Errorf("%s: %v", data, err)
		}
	})
}
