package operate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/suspend"
	"coordtop/sources"
)

func TestTheTimeAsleepIsWhatEitherClockTells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		slept, passed, wall time.Duration
		want                time.Duration
	}{
		{"awake", 0, time.Minute, time.Minute, 0},
		{"noise", suspend.Noise, time.Minute, time.Minute + suspend.Noise, 0},
		{"told by the clock of suspends", time.Hour, time.Minute, time.Minute + time.Hour, time.Hour},
		{"told by the wall clock alone", 0, time.Minute, time.Hour + time.Minute, time.Hour},
		{"the wall clock was set back", time.Hour, time.Minute, -time.Hour, time.Hour},
	} {
		if got := asleepFor(c.slept, c.passed, c.wall); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCloseWaitsForTheLineOfTheSwitch(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]func(*Operator){
		`"disarm"`: func(o *Operator) { o.Disarm() },
		`"arm"`:    func(o *Operator) { _ = o.Arm("s", "") }, // the line tells
	} {
		journal := filepath.Join(t.TempDir(), "audit.jsonl")
		synctest.Test(t, func(t *testing.T) {
			hub := sources.NewHub(t.Context(), sources.HubOptions{})
			defer hub.Close()
			j := NewAuditLog(journal, Actor{})
			j.Wait()
			o := New(t.Context(), Options{View: hub, Audit: j, Backends: map[string]Backend{"s": {}}})
			goOn := j.Stall()
			go turn(o) // Close joins it
			synctest.Wait()
			closed := make(chan error, 1)
			go func() { closed <- o.Close() }() // received below
			synctest.Wait()
			select {
			case err := <-closed:
				t.Errorf("Close did not wait for the line of %s", name)
				closed <- err
			default:
			}
			goOn()
			synctest.Wait()
			if err := <-closed; err != nil {
				t.Error(err)
			}
			if text, err := os.ReadFile(journal); err != nil || !strings.Contains(string(text), name) {
				t.Errorf("the audit has %q, %v; want a line of %s", text, err, name)
			}
		})
	}
}

func TestSomethingDoesEachVerbAndNothingAnother(t *testing.T) {
	t.Parallel()
	hub := sources.NewHub(t.Context(), sources.HubOptions{})
	defer hub.Close()
	o := New(t.Context(), Options{View: hub})
	defer func() { _ = o.Close() }() // nothing is held
	body := func(v action.Verb) func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		n := o.runLocked(action.Request{Verb: v})
		defer n.cancel(nil)
		defer func() { o.held = nil }()
		return n.bodyLocked(&Backend{})
	}
	for _, d := range action.Verbs() {
		if body(d.Verb) == nil {
			t.Errorf("nothing does %v", d.Verb)
		}
	}
	for _, v := range []action.Verb{0, action.Verb(len(action.Verbs()) + 1)} {
		if body(v) != nil {
			t.Errorf("verb %d is done as if it were another", v)
		}
	}
}
