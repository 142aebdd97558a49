package redissource

import (
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestItIsQuietWhenNothingIsPushedAndNobodyMoves(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, c := range map[string]struct {
		began, pushed time.Time
		moved, want   bool
	}{
		"it is new":            {began: ago(29 * time.Second)},
		"nothing happened":     {began: ago(30 * time.Second), want: true},
		"something was pushed": {began: ago(time.Hour), pushed: ago(29 * time.Second)},
		"long ago":             {began: ago(time.Hour), pushed: ago(31 * time.Second), want: true},
		"somebody moved":       {began: ago(time.Hour), pushed: ago(time.Minute), moved: true},
	} {
		l := newLink(t.Context(), &Options{Quiet: 30 * time.Second}, nil, nil)
		l.began = c.began
		if c.moved {
			l.hints.Focus(nil, sources.Ref{Name: "x"})
		}
		if got := l.quiet(pulse{pushed: c.pushed}, now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		l.Close()
	}
	turn := time.Date(2026, 7, 1, 12, 0, 0, 500_000_000, time.UTC)
	for quiet, want := range map[bool]time.Duration{false: pingPause, true: time.Second} {
		if got := (pulse{}).pause(quiet, turn, time.Second); got != want {
			t.Errorf("quiet %v: a pause of %v", quiet, got)
		}
	}
}

func TestTheFirstPushAfterAQuietTimeBringsThePingsBack(t *testing.T) {
	t.Parallel()
	l := newLink(t.Context(), &Options{Quiet: 30 * time.Second}, nil, nil)
	defer l.Close()
	l.began = ms(0)
	for _, c := range []struct {
		at   int // in s
		want bool
	}{{29, false}, {58, false}, {89, true}, {90, false}} {
		l.notice(ms(1000 * c.at))
		if got := len(l.stirred) > 0; got != c.want {
			t.Errorf("a push after %d s: %v", c.at, got)
		}
		select {
		case <-l.stirred:
		default:
		}
	}
}

// TestEachAnswerOfAQuietServerIsTold has answers that come a little sooner than the ping before.
func TestEachAnswerOfAQuietServerIsTold(t *testing.T) {
	t.Parallel()
	var p heartbeat
	for _, at := range []int{0, 1010, 2000, 2990, 3995} {
		if !p.tellAlive(ms(at), time.Second) {
			t.Errorf("the answer after %d ms is not told", at)
		}
	}
	told := 0
	for i := range 10_000 / 20 { // one that is not quiet
		if p.tellAlive(ms(10_000+20*i), time.Second) {
			told++
		}
	}
	if told > 12 {
		t.Errorf("told %d times in 10 s", told)
	}
}

// TestAQuietServerIsPingedLessOftenAndItsChangesStayTrue has a source that finds its server quiet
// all the time.
func TestAQuietServerIsPingedLessOftenAndItsChangesStayTrue(t *testing.T) {
	t.Parallel()
	for name, keys := range pushWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{}, held)
			proxy := localserver.ProxyForTest(t, r.server.Addr())
			watch(t, r, Options{Client: client(proxy.Addr(), "", ""), Selections: keys, Quiet: time.Nanosecond}).synced()
			pinged := r.calls("ping")
			r.do("BLPOP", "nothing", "2")
			if n := r.calls("ping") - pinged; n > 6 {
				t.Errorf("%d pings in two seconds", n)
			}
			before := time.Now()
			r.do("SET", "app:leader:x", uuidB, "PX", "600000")
			after := time.Now()
			e := r.Event(sources.EventOwnerChanged, "app:leader:x")
			if e.At.Before(before) || e.After.After(after) || e.After.IsZero() && e.At.After(after.Add(sources.Promptness)) {
				t.Errorf("it changed between %v and %v: %+v", before, after, e)
			}
		})
	}
}
