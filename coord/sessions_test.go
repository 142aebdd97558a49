package coord_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
)

func TestSessionsClosesEachSessionAndPausesLongerAndLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := grantStub()
		o := options()
		o.Retry = coord.Backoff{Min: time.Second, Max: 4 * time.Second}
		var last *coord.Session
		var returned time.Time
		steps := []time.Duration{1, 2, 4, 4}
		turns := 0
		for s, err := range coord.Sessions(t.Context(), d, o) {
			noError(t, err)
			if last != nil {
				if !errors.Is(context.Cause(last.Context()), coord.ErrClosed) || d.sessionsClosed.Load() != int64(turns) {
					t.Error("the session of the turn before was not closed")
				}
				step := steps[turns-1] * time.Second
				if pause := time.Since(returned); pause < step/2 || pause > step {
					t.Errorf("turn %d: pause of %v, want between %v and %v", turns, pause, step/2, step)
				}
			}
			if turns == len(steps) {
				break
			}
			last, returned = s, time.Now()
			turns++
		}
		if d.sessionsClosed.Load() != int64(turns)+1 {
			t.Error("the session of the turn that broke out was not closed")
		}
	})
}

func TestSessionsDoesNotPauseAfterASessionThatOutlivedItsTTL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d     *stub
		o     coord.SessionOptions
		lived time.Duration
		rests bool
	}{
		"TTL of the options":                 {grantStub(), options(), ttl, false},
		"almost":                             {grantStub(), options(), ttl - 1, true},
		"window of the session":              {sessionStub(), coord.SessionOptions{}, ttl, false},
		"window of the session, almost":      {sessionStub(), coord.SessionOptions{}, ttl - 1, true},
		"no TTL known: long enough":          {grantStub(), coord.SessionOptions{}, time.Minute, false},
		"no TTL known: not long at all":      {grantStub(), coord.SessionOptions{}, time.Second, true},
		"the body outlived, not the session": {func() *stub { d := sessionStub(); return d }(), options(), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var returned time.Time
				for s, err := range coord.Sessions(t.Context(), c.d, c.o) {
					switch {
					case err != nil:
						t.Fatal(err)
					case !returned.IsZero():
						if rested := time.Since(returned) > 0; rested != c.rests {
							t.Errorf("pause of %v after a life of %v", time.Since(returned), c.lived)
						}
						return
					case c.lived > 0:
						time.Sleep(c.lived)
					default: // the service ends it at once, the body sits on it
						c.d.onRenew(func(context.Context) (coord.Window, error) { return coord.Window{}, coord.ErrLost })
						<-s.Context().Done()
						c.d.onRenew(nil)
						time.Sleep(time.Hour)
					}
					returned = time.Now()
				}
			})
		})
	}
}

func TestSessionsRetriesWhatMayPassAndTellsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := grantStub()
		cause := errors.New("no route")
		fails := 3
		d.opened = func(context.Context) error {
			if fails--; fails >= 0 {
				return cause
			}
			return nil
		}
		var told []coord.StateChange
		o := options()
		o.OnState = func(c coord.StateChange) { told = append(told, c) }
		for s, err := range coord.Sessions(t.Context(), d, o) {
			if s == nil || err != nil {
				t.Fatalf("yielded %v, %v", s, err)
			}
			break
		}
		var tries, failures int
		for _, c := range told {
			switch {
			case c.State == coord.StateOpening && c.Err == nil && c.Retry == 0:
				tries++
			case c.State == coord.StateOpening && errors.Is(c.Err, cause) && c.Retry > 0:
				failures++
			}
		}
		if tries != 4 || failures != 3 || told[len(told)-1].State != coord.StateEnded || told[len(told)-2].State != coord.StateOpen {
			t.Errorf("told %v", told)
		}
	})
}

func TestSessionsYieldsAFinalRefusalOnce(t *testing.T) {
	t.Parallel()
	for _, final := range []error{coord.ErrRefused, coord.ErrInvalid, coord.ErrUnsupported} {
		d := grantStub()
		d.opened = func(context.Context) error { return final }
		yielded := 0
		for s, err := range coord.Sessions(t.Context(), d, options()) {
			yielded++
			if s != nil || !errors.Is(err, final) {
				t.Errorf("yielded %v, %v, want %v", s, err, final)
			}
		}
		if yielded != 1 {
			t.Errorf("%v: yielded %d times", final, yielded)
		}
	}
}

func TestSessionsEndsQuietlyWithItsContext(t *testing.T) {
	t.Parallel()
	for name, opened := range map[string]func(context.Context) error{
		"while it opens":  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"while it pauses": func(context.Context) error { return errors.New("no route") },
		"in the body":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := grantStub()
				d.opened = opened
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				var told []coord.State
				o := options()
				o.OnState = func(c coord.StateChange) { told = append(told, c.State) }
				for s, err := range coord.Sessions(ctx, d, o) {
					if err != nil || opened != nil {
						t.Fatalf("yielded %v, %v", s, err)
					}
					<-ctx.Done()
				}
				if told[len(told)-1] != coord.StateEnded {
					t.Errorf("told %v, want ended last", told)
				}
				if want := []coord.State{coord.StateOpening, coord.StateOpen, coord.StateEnded}; opened == nil && !slices.Equal(told, want) {
					t.Errorf("told %v, want %v", told, want)
				}
			})
		})
	}
}

func TestStartTimeoutBoundsEachTry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ set, want time.Duration }{{0, 10 * time.Second}, {3 * time.Second, 3 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			d := grantStub()
			tries := 0
			d.opened = func(ctx context.Context) error {
				if tries++; tries > 1 {
					return nil
				}
				start := time.Now()
				<-ctx.Done()
				if got := time.Since(start); got != c.want {
					t.Errorf("a try took %v, want %v", got, c.want)
				}
				return ctx.Err()
			}
			o := options()
			o.StartTimeout = c.set
			for range coord.Sessions(t.Context(), d, o) {
				break
			}
			if tries != 2 {
				t.Errorf("%d tries", tries)
			}
		})
	}
}

func TestSessionsClosesTheSessionOfABodyThatPanics(t *testing.T) {
	t.Parallel()
	d := grantStub()
	func() {
		defer func() { _ = recover() }()
		for range coord.Sessions(t.Context(), d, options()) {
			panic("the body's own")
		}
	}()
	if d.sessionsClosed.Load() != 1 {
		t.Error("left open")
	}
}

func TestWithSessionLendsASession(t *testing.T) {
	t.Parallel()
	own, closing := errors.New("own"), errors.New("closing")
	for name, c := range map[string]struct {
		f     func(context.Context, *coord.Session) error
		close error
		want  []error
	}{
		"done":           {func(context.Context, *coord.Session) error { return nil }, nil, nil},
		"its own error":  {func(context.Context, *coord.Session) error { return own }, closing, []error{own}},
		"closing failed": {func(context.Context, *coord.Session) error { return nil }, closing, []error{closing}},
		"the session ended meanwhile": {func(ctx context.Context, s *coord.Session) error {
			s.Abandon()
			<-ctx.Done()
			return ctx.Err()
		}, nil, []error{context.Canceled, coord.ErrClosed}},
	} {
		d := grantStub()
		d.close = func(context.Context) error { return c.close }
		var lent *coord.Session
		err := coord.WithSession(t.Context(), d, options(), func(ctx context.Context, s *coord.Session) error {
			lent = s
			return c.f(ctx, s)
		})
		for _, want := range c.want {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
		if c.want == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if lent.Context().Err() == nil {
			t.Errorf("%s: the session goes on", name)
		}
	}
	refused := grantStub()
	refused.opened = func(context.Context) error { return coord.ErrRefused }
	err := coord.WithSession(t.Context(), refused, options(), func(context.Context, *coord.Session) error {
		t.Error("called without a session")
		return nil
	})
	if !errors.Is(err, coord.ErrRefused) {
		t.Errorf("Open's error: %v", err)
	}
}

func TestPausesOfSessionsStartAnewAfterALongLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := options()
		o.Retry = coord.Backoff{Min: time.Second, Max: time.Hour}
		lives := []time.Duration{0, 0, 0, 0, ttl, 0}
		turn := 0
		var returned time.Time
		for _, err := range coord.Sessions(t.Context(), grantStub(), o) {
			noError(t, err)
			if turn == len(lives) {
				if pause := time.Since(returned); pause > time.Second {
					t.Errorf("the first pause after a long life was %v", pause)
				}
				break
			}
			time.Sleep(lives[turn])
			returned = time.Now()
			turn++
		}
	})
}
