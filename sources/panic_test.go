package sources_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

func TestPanicOfASourceIsItsError(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		var log bytes.Buffer
		w.spec.Logger = slog.New(slog.NewTextHandler(&log, nil))
		w.script.PanicConnect("first")
		w.start()
		if s := w.source(); !strings.Contains(s.Err.Error(), spawn.ErrPanic.Error()) || !strings.Contains(s.Err.Error(), "first") {
			t.Errorf("error = %v, want the panic", s.Err)
		}
		time.Sleep(time.Second)
		w.list(election("app", leased("a", time.Hour)))
		w.wantStatus("app", sources.StatusLed)
		w.script.Panic("second")
		w.settle()
		if s := w.source(); !strings.Contains(s.Err.Error(), spawn.ErrPanic.Error()) || !strings.Contains(s.Err.Error(), "second") {
			t.Errorf("error = %v, want the panic", s.Err)
		}
		w.wantStatus("app", sources.StatusStale)
		if !strings.Contains(log.String(), "script.go") {
			t.Errorf("the log does not say where: %s", log.String())
		}
		if r := w.script.Record(); r.Closes != r.Connects {
			t.Errorf("%+v: not closed after a panic", r)
		}
	})
}

// helped is a source that starts a goroutine when it connects.
type helped struct {
	*sourcetest.Script
	help    func()
	running sync.WaitGroup
}

func (s *helped) Connect(ctx context.Context) error {
	spawn.Go(context.WithoutCancel(ctx), &s.running, s.help)
	return s.Script.Connect(ctx)
}

func TestAPanicInAGoroutineOfASourceEndsItsConnectionAlone(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		var log bytes.Buffer
		w.spec.Logger = slog.New(slog.NewTextHandler(&log, nil))
		boom := make(chan struct{})
		s := &helped{Script: w.script, help: func() {
			if _, again := <-boom; !again {
				return
			}
			panic("boom")
		}}
		w.spec.Source = s
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		w.wantStatus("app", sources.StatusLed)
		boom <- struct{}{}
		w.settle()
		if s := w.source(); !strings.Contains(s.Err.Error(), spawn.ErrPanic.Error()) || !strings.Contains(s.Err.Error(), "boom") {
			t.Errorf("error = %v, want the panic", s.Err)
		}
		w.wantStatus("app", sources.StatusStale)
		if n := strings.Count(log.String(), "panic_test.go"); n == 0 {
			t.Errorf("the log has no stack: %s", log.String())
		}
		close(boom)
		time.Sleep(5 * time.Second)
		if r := w.script.Record(); r.Connects != 2 || r.Closes != 1 {
			t.Errorf("%+v, want a second connection", r)
		}
		s.running.Wait()
	})
}

func TestAPanicBesideASourceEndsRunWithAnError(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*sourcetest.Script){
		"while a change is taken in": func(s *sourcetest.Script) {
			s.Push(sources.Change{Scope: "main", Set: []*sources.Primitive{nil}})
		},
		"while nothing happens": func(s *sourcetest.Script) { s.HangConnect() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := spawn.With(t.Context(), func(*spawn.Panic) {})
				began := time.Now()
				hub := sources.NewHub(ctx, sources.HubOptions{Clock: sources.ClockThatDrifts(func() time.Duration {
					if time.Since(began) > 0 { // the publisher is the first to read it then
						panic("boom")
					}
					return 0
				})})
				defer hub.Close()
				script := sourcetest.NewScript("main")
				prepare(script)
				err := sources.Run(ctx, hub, []sources.Spec{{Name: "redis", Source: script}})
				if !errors.Is(err, spawn.ErrPanic) {
					t.Errorf("Run = %v, want a panic as an error", err)
				}
			})
		})
	}
}
