package sources_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

func (w *world) source() sources.SourceStatus { return w.hub.State().Sources[0] }

func TestSourceIsShownBeforeItAnswers(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.script.HangConnect()
		w.start()
		if s := w.source(); s.Name != "redis" || s.Type != "redis" || s.Address != "localhost:1" || s.Health != sources.HealthConnecting || s.Err != nil {
			t.Errorf("source is %+v, want connecting", s)
		}
	})
}

func TestHangingConnectIsGivenUpAndTriedAgain(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.script.HangConnect()
		w.start()
		time.Sleep(5 * time.Second)
		w.settle()
		if s := w.source(); !errors.Is(s.Err, sources.ErrSilent) || !strings.Contains(s.Err.Error(), context.DeadlineExceeded.Error()) || !s.Retry.After(time.Now()) {
			t.Errorf("source is %+v, want an error and a time of retry", s)
		}
		time.Sleep(time.Second)
		w.list()
		if s := w.source(); s.Health != sources.HealthLive || s.Err != nil || !s.Retry.IsZero() {
			t.Errorf("source is %+v, want live", s)
		}
		w.wantEvents("source_down  seen", "source_up  seen", "synced  told")
	})
}

func TestEveryConnectIsFollowedByClose(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		for range 3 {
			w.script.FailConnect(errors.New("refused by nobody"))
		}
		w.start()
		time.Sleep(time.Minute)
		w.script.Fail(errors.New("reset"))
		w.settle()
		r := w.script.Record()
		if r.Connects != r.Closes || r.Connects != 4 || r.Overlapped {
			t.Errorf("%+v, want 4 connects, as many closes, none at a time", r)
		}
	})
}

func TestHangingNextTurnsStaleAndIsConnectedAnew(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		w.script.Hang()
		time.Sleep(5 * time.Second)
		w.wantStatus("app", sources.StatusStale)
		time.Sleep(15 * time.Second)
		if r := w.script.Record(); r.Connects != 2 || r.Closes != 1 {
			t.Errorf("%+v, want a second connect", r)
		}
	})
}

func TestSourceWithoutProofOfLifeIsConnectedAnew(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list()
		w.script.Silence(true)
		time.Sleep(14 * time.Second)
		if n := w.script.Record().Connects; n != 1 {
			t.Errorf("%d connects after 14 s", n)
		}
		time.Sleep(3 * time.Second)
		w.settle()
		if n := w.script.Record().Connects; n != 2 {
			t.Errorf("%d connects after 17 s, want 2", n)
		}
		if err := w.source().Err; !errors.Is(err, sources.ErrSilent) {
			t.Errorf("error = %v, want that it is silent", err)
		}
	})
}

func TestOneBadSourceDoesNotTouchAnother(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		bad := sourcetest.NewScript()
		bad.HangConnect()
		ctx, cancel := context.WithCancel(w.t.Context())
		done := make(chan error, 1)
		specs := []sources.Spec{{Name: "bad", Source: bad}, w.spec}
		go func() { done <- sources.Run(ctx, w.hub, specs) }()
		w.settle()
		w.list(election("app", leased("a", time.Hour)))
		w.wantStatus("app", sources.StatusLed)
		s := w.hub.State().Sources
		if s[0].Name != "bad" || s[0].Health != sources.HealthConnecting || s[1].Health != sources.HealthLive {
			t.Errorf("sources are %+v", s)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
		if r := bad.Record(); r.Closes != 1 {
			t.Errorf("%+v: the hanging source is not closed", r)
		}
	})
}

func TestNamesOfSourcesAreUnique(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		err := sources.Run(w.t.Context(), w.hub, []sources.Spec{w.spec, w.spec})
		if err == nil || len(w.hub.State().Sources) != 0 {
			t.Errorf("Run = %v with %d sources, want an error and none", err, len(w.hub.State().Sources))
		}
	})
}

// deaf ignores the end of its context.
type deaf struct {
	sourcetest.Script
	end chan struct{}
}

func (d *deaf) Connect(context.Context) error { <-d.end; return errors.New("at last") }
func (d *deaf) Close() error                  { return nil }

func TestRunDoesNotWaitForEverForASourceThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		d := &deaf{end: make(chan struct{})}
		ctx, cancel := context.WithCancel(w.t.Context())
		cancel()
		began := time.Now()
		err := sources.Run(ctx, w.hub, []sources.Spec{{Name: "deaf", Source: d}})
		if err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("Run = %v after %v, want an error after 5 s", err, time.Since(began))
		}
		close(d.end)
	})
}

func TestFocusReachesTheSourceWithItsOwnRows(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		foreign := sources.Ref{Source: "other", Name: "x"}
		w.hub.Focus([]sources.Ref{ref("app"), foreign}, foreign)
		r := w.script.Record()
		if len(r.Visible) != 1 || r.Visible[0] != ref("app") || r.Selected != (sources.Ref{}) {
			t.Errorf("visible %v, selected %v", r.Visible, r.Selected)
		}
		w.hub.Focus(nil, ref("app"))
		if r := w.script.Record(); len(r.Visible) != 0 || r.Selected != ref("app") {
			t.Errorf("visible %v, selected %v", r.Visible, r.Selected)
		}
	})
}

func TestRefreshOfALiveSourceDoesNotSpareItALaterPause(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list()
		w.hub.Refresh("redis")
		w.script.Fail(errors.New("reset"))
		w.settle()
		if n := w.script.Record().Connects; n != 1 {
			t.Errorf("%d connects, want a pause before the second", n)
		}
	})
}

func TestAfterASleepNothingIsBelievedBeforeItWasReadAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		w := &world{t: t, script: sourcetest.NewScript("main")}
		w.hub = sources.NewHub(t.Context(), sources.HubOptions{
			Clock: sources.ClockThatDrifts(func() time.Duration { return time.Duration(slept.Load()) })})
		defer w.hub.Close()
		w.spec = sources.Spec{Name: "redis", Source: w.script}
		w.events = w.hub.Subscribe(0)
		w.start()
		w.list(election("app", sources.Owner{ID: "a", Label: "a"}))
		connects := w.script.Record().Connects

		slept.Store(int64(time.Minute))
		time.Sleep(1100 * time.Millisecond) // the Hub looks at the clocks once a second
		w.tell(sources.Change{Alive: []string{"main"}})
		if got := w.status("app"); got != sources.StatusStale {
			t.Errorf("after the first answer the row is %v, want stale", got)
		}
		time.Sleep(time.Second)
		w.settle()
		if got := w.script.Record().Connects; got != connects+1 {
			t.Errorf("connected %d times since, want once", got-connects)
		}
		w.list(election("app", sources.Owner{ID: "b", Label: "b"}))
		if got := w.status("app"); got != sources.StatusLed {
			t.Errorf("read anew the row is %v, want led", got)
		}
	})
}
