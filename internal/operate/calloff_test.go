package operate_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// armedFor5 is a rig for which writing is armed, and the clock that ends it.
type armedFor5 struct {
	*rig
	later *atomic.Int64 // nanoseconds that have passed on its clock besides
	slept *asleep
}

// arm5 arms a rig that make makes.
func arm5(t *testing.T, make func(options) *rig) armedFor5 {
	t.Helper()
	a := armedFor5{later: new(atomic.Int64), slept: new(asleep)}
	a.rig = make(options{change: func(o *operate.Options, b *operate.Backend) {
		a.slept.options().change(o, b)
		o.Now = func() time.Time { return time.Now().Add(time.Duration(a.later.Load())) }
	}})
	if err := a.Arm("s", ""); err != nil {
		t.Fatal(err)
	}
	return a
}

// endings are the ways in which writing ends, and what is said of each.
func endings() map[string]func(armedFor5) (says string) {
	return map[string]func(armedFor5) string{
		"the key":  func(a armedFor5) string { a.Disarm(); return "writing was switched off" },
		"its time": func(a armedFor5) string { a.later.Add(int64(5 * time.Minute)); return "the time for writing is over" },
		"a suspend": func(a armedFor5) string {
			a.slept.slept.Add(int64(5 * time.Minute))
			return "the time for writing is over"
		},
		"a new start": func(a armedFor5) string {
			a.later.Add(int64(5 * time.Minute))
			_ = a.Arm("s", "")
			return "the time for writing is over"
		},
	}
}

func TestWaitingClaimsEndWithWritingAndNeverWinAfterwards(t *testing.T) {
	t.Parallel()
	for backend, setup := range scenes() {
		for ending, end := range endings() {
			t.Run(backend+" "+ending, func(t *testing.T) {
				t.Parallel()
				s := setup(t)
				a := arm5(t, func(o options) *rig { return s.board(t, o) })
				resign := s.led(t, "one")
				led := a.owner(s.election)
				sub := a.hub.Subscribe(a.hub.State().LastSeq)
				defer sub.Close()
				id := a.do(a.ask(action.Campaign, s.election))
				a.reaches(id, action.Waiting)
				says := end(a)
				if run := a.reaches(id, action.Dropped); run.Text != says {
					t.Errorf("it says %q", run.Text)
				}
				if h := a.Status().Holdings; len(h) != 0 {
					t.Errorf("holding %+v", h)
				}
				var told string
				a.until("an event tells it", func(*sources.State) bool {
					events, _ := sub.Events(0)
					for _, e := range events {
						if e.Kind == sources.EventAction {
							told = e.Detail
						}
					}
					return told != ""
				})
				if !strings.Contains(told, ": called off: "+says) {
					t.Errorf("the event says %q", told)
				}
				lines := a.audit()
				found := false
				for _, l := range lines {
					found = found || l.Action == "campaign" && l.Stage == operate.After && l.Result == "called off" && strings.HasPrefix(l.Detail, says)
				}
				if !found {
					t.Errorf("the audit has %+v", lines)
				}
				resign()
				a.until("nobody leads", func(*sources.State) bool {
					row := a.row(s.election)
					return len(row.Owners) == 0 && (row.Queue.How == sources.Unknown || row.Queue.Len == 0)
				})
				if o := a.row(s.election).Owners; len(o) > 0 && o[0].ID != led.ID {
					t.Errorf("%+v owns it", o)
				}
			})
		}
	}
}

func TestWhatWeHoldOutlivesTheEndOfWriting(t *testing.T) {
	t.Parallel()
	for ending, end := range endings() {
		t.Run(ending, func(t *testing.T) {
			t.Parallel()
			a := arm5(t, func(o options) *rig { return redisRig(t, o) })
			a.reaches(a.do(a.ask(action.Try, mutex)), action.Seen)
			a.occupy(election, "host-a:1")
			id := a.do(a.ask(action.Campaign, election))
			a.reaches(id, action.Waiting)
			end(a)
			a.reaches(id, action.Dropped)
			if h := a.Status().Holdings; len(h) != 1 || h[0].Waiting || h[0].Ref.Name != mutex {
				t.Fatalf("holding %+v", h)
			}
			if ending == "a new start" {
				return
			}
			a.refused(a.ask(action.Campaign, election), operate.ErrNotArmed, "arm it")
			if run := a.reaches(a.do(a.ask(action.Resign, mutex)), action.Seen); !strings.HasPrefix(run.Text, "given up") {
				t.Errorf("it says %q", run.Text)
			}
		})
	}
}

func TestWhatIsOursIsGivenUpWithoutArmingAlsoWhereTheSourceIsProtected(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{change: func(o *operate.Options, b *operate.Backend) { b.Protect, o.Always, b.Demo = true, false, false }})
	if err := r.Arm("s", "s"); err != nil {
		t.Fatal(err)
	}
	q := r.ask(action.Try, mutex)
	q.Reason, q.Typed = "INC-1", mutex
	r.reaches(r.do(q), action.Seen)
	r.Disarm()
	resign := r.ask(action.Resign, mutex)
	if e, err := r.Describe(t.Context(), resign); err != nil || e.NeedsReason || e.NeedsName != "" {
		t.Errorf("described as %+v, %v", e, err)
	}
	r.reaches(r.do(resign), action.Seen)
	r.refused(q, operate.ErrNotArmed, "arm it")
	r.refused(r.ask(action.Resign, election), operate.ErrNotPossible, "not ours")
}

// late calls granted after the service has granted a claim, and before we know.
type late struct {
	coord.Driver
	granted func()
}

func (d late) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := d.Driver.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return lateSession{s, d.granted}, nil
}

type lateSession struct {
	coord.DriverSession
	granted func()
}

func (s lateSession) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	g, ok, err := s.DriverSession.Acquire(ctx, c)
	if ok {
		s.granted()
	}
	return g, ok, err
}

func TestAGrantThatComesAfterTheEndOfWritingIsGivenBackAndSaid(t *testing.T) {
	t.Parallel()
	for ending, end := range endings() {
		if ending == "a new start" {
			continue // then it may stay
		}
		for _, verb := range []action.Verb{action.Campaign, action.Try} {
			t.Run(ending+" "+verb.String(), func(t *testing.T) {
				t.Parallel()
				var a armedFor5
				var says string
				a = arm5(t, func(o options) *rig {
					change := o.change
					o.change = func(oo *operate.Options, b *operate.Backend) {
						change(oo, b)
						open := b.Open
						b.Open = func(ctx context.Context, space string) (coord.Driver, error) {
							d, err := open(ctx, space)
							return late{d, func() { says = end(a) }}, err
						}
					}
					return redisRig(t, o)
				})
				run := a.reaches(a.do(a.ask(verb, election)), action.Dropped)
				if !strings.HasPrefix(run.Text, says) {
					t.Errorf("it says %q, want %q", run.Text, says)
				}
				a.awake("nothing is held", func(s *action.Status) bool { return len(s.Holdings) == 0 })
				a.until("nobody leads", func(*sources.State) bool { return len(a.row(election).Owners) == 0 })
				if n := a.redis().Exists(t.Context(), election).Val(); n != 0 {
					t.Error("the key is there")
				}
			})
		}
	}
}

func TestNothingIsWrittenAfterTheEndOfWriting(t *testing.T) {
	t.Parallel()
	for _, verb := range []action.Verb{action.Create, action.Update, action.Delete} {
		t.Run(verb.String(), func(t *testing.T) {
			t.Parallel()
			var r *rig
			r, server := ydbRig(t, true, options{change: func(_ *operate.Options, b *operate.Backend) {
				open := b.Open
				b.Open = func(ctx context.Context, space string) (coord.Driver, error) { // between the guards and the sending
					r.Disarm()
					return open(ctx, space)
				}
			}})
			if verb != action.Create {
				if err := server.CreateSemaphore(node, "quota", 3, []byte("old")); err != nil {
					t.Fatal(err)
				}
				r.until("it is there", func(*sources.State) bool { return !r.row("quota").Absent })
			}
			q := r.ask(verb, "quota")
			q.Data = []byte("ours")
			if run := r.reaches(r.do(q), action.Dropped); run.Text != "writing was switched off: nothing was sent" {
				t.Errorf("it says %q", run.Text)
			}
			s, err := server.Semaphore(node, "quota")
			if verb == action.Create && err == nil || verb != action.Create && (err != nil || string(s.Data) != "old") {
				t.Errorf("the service has %+v, %v", s, err)
			}
		})
	}
}
