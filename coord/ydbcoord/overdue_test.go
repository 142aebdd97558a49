package ydbcoord_test

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

// The stream lives on in all of these: only one answer of it is lost.

func TestAGrantWhoseAnswerIsLostIsFoundOut(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"waiting": coord.Forever, "bounded": time.Minute, "a try": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				s := b.session(t, ydbcoord.Options{})
				time.Sleep(ttl / 50) // it is not asked just when overdue answers are looked for
				b.DropReplies("acquire_semaphore_result", 1)
				c := mutex("m")
				c.Wait = wait
				began := time.Now()
				g := must(t, s, c)
				if took := time.Since(began); took > ttl/4*5/4 {
					t.Errorf("it took %v", took)
				}
				if o := b.Owners(node, "m"); len(o) != 1 || o[0].OrderID != g.Info().Fence {
					t.Errorf("the service has %+v, the grant's fence is %d", o, g.Info().Fence)
				}
				if err := g.Release(t.Context()); err != nil || len(b.Owners(node, "m")) != 0 {
					t.Errorf("releasing: %v, %+v", err, b.Owners(node, "m"))
				}
			})
		})
	}
}

func TestATurnWhoseAnswerIsLostIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]coord.Claim{"election": election("s"), "mutex": mutex("s")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				if err := b.CreateSemaphore(node, "s", 1, nil); name == "election" && err != nil {
					t.Fatal(err)
				}
				one, two := b.session(t, ydbcoord.Options{}), b.session(t, ydbcoord.Options{})
				if name == "mutex" {
					noError(t, one.Delete(t.Context(), "s", true))
				}
				first := must(t, one, c)
				got := acquiring(t.Context(), two, forever(c))
				time.Sleep(ttl/2 + ttl/40) // the next look for late answers is not near
				b.DropReplies("acquire_semaphore_result", 1)
				began := time.Now()
				noError(t, first.Release(t.Context()))
				a := <-got
				if took := time.Since(began); !a.ok || a.err != nil || took > ttl/8 {
					t.Errorf("got %+v after %v", a, took)
				}
			})
		})
	}
}

func TestAPlaceInTheQueueOutlivesLostAnswers(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		one, two := b.session(t, ydbcoord.Options{}), b.session(t, ydbcoord.Options{})
		first := must(t, one, mutex("m"))
		b.DropReplies("acquire_semaphore_pending", 1)
		got := acquiring(t.Context(), two, forever(mutex("m")))
		synctest.Wait()
		place := b.Waiters(node, "m")
		time.Sleep(3 * ttl / 4)
		if now := b.Waiters(node, "m"); len(place) != 1 || len(now) != 1 || now[0].OrderID != place[0].OrderID {
			t.Errorf("the place was %+v and is %+v", place, now)
		}
		b.DropReplies("acquire_semaphore_result", 1)
		noError(t, first.Release(t.Context()))
		began := time.Now()
		if a := <-got; !a.ok || a.err != nil {
			t.Errorf("got %+v", a)
		}
		if took := time.Since(began); took > 2*ttl {
			t.Errorf("we led for %v without our knowing", took)
		}
	})
}

func TestAReleaseWhoseAnswerIsLostIsAskedForAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		g := must(t, s, mutex("m"))
		b.DropReplies("release_semaphore_result", 1)
		if err := g.Release(t.Context()); err != nil {
			t.Errorf("releasing: %v", err)
		}
		must(t, s, mutex("m"))
	})
}

func TestALookWhoseAnswerIsLostIsAskedForAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		b.DropReplies("describe_semaphore_result", 1) // that which follows the grant
		g := must(t, s, mutex("m"))
		if o := b.Owners(node, "m"); len(o) != 1 || o[0].OrderID != g.Info().Fence {
			t.Errorf("the service has %+v, the grant's fence is %d", o, g.Info().Fence)
		}
	})
}

func TestAWatchWhoseAnswerIsLostIsArmedAgain(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, _ *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		b.DropReplies("describe_semaphore_result", 1)
		noError(t, b.UpdateSemaphore(node, "s", []byte("x")))
		for range 3 { // one to look, one to ask again
			time.Sleep(ttl / 4)
			if _, err := s.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if state := next(t, f); string(state.Data) != "x" {
			t.Errorf("told %+v", state)
		}
	})
}

func TestALookThatShowsWhatTheWatchDidNotTellArmsItAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, b *bench){
		"data": func(t *testing.T, b *bench) {
			noError(t, b.UpdateSemaphore(node, "s", []byte("x")))
		},
		"an owner": func(t *testing.T, b *bench) {
			other := b.session(t, ydbcoord.Options{})
			keep(t, other)
			must(t, other, election("s"))
		},
		"gone": func(t *testing.T, b *bench) {
			noError(t, b.session(t, ydbcoord.Options{}).Delete(t.Context(), "s", true))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			followed(t, func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
				armed := time.Now()
				time.Sleep(time.Second)
				b.DropReplies("describe_semaphore_changed", 1)
				change(t, b)
				synctest.Wait()
				if n := f.Unarmed(0); n != 0 {
					t.Errorf("%d not armed, and nothing has told so", n)
				}
				f.Look("s")
				state := next(t, f)
				if state.Fired || state.Since.IsZero() || state.Since.After(armed) {
					t.Errorf("told %+v, want since the watch was armed", state)
				}
				synctest.Wait()
				for { // the answer that armed it
					if _, ok, err := f.Take(); !ok || err != nil {
						break
					}
				}
				if name == "gone" {
					noError(t, b.CreateSemaphore(node, "s", 1, []byte("y")))
					time.Sleep(2 * time.Second) // it is looked for each second
					if state := next(t, f); state.Absent {
						t.Errorf("told %+v", state)
					}
					return
				}
				noError(t, b.UpdateSemaphore(node, "s", []byte("y")))
				if state := next(t, f); !state.Fired || string(state.Data) != "y" {
					t.Errorf("told %+v, want what the watch has told", state)
				}
			})
		})
	}
}

// A slow service is not asked again and again.
func TestWhatIsOverdueIsAskedForWithGrowingPauses(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		g := must(t, s, mutex("m"))
		b.DropReplies("release_semaphore_result", 100)
		go func() { _ = g.Release(t.Context()) }()
		time.Sleep(ttl - 1)
		if n := r.count(isRelease); n < 2 || n > 4 {
			t.Errorf("%d releases were sent in %v", n, ttl)
		}
	})
}
