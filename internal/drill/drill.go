package drill

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"sync"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// Errors that end a drill early, wrapped in sentences for the person.
var (
	ErrStale    = errors.New("the source does not answer")
	ErrStranger = errors.New("not ours alone")
	ErrNoLeader = errors.New("no leader")
)

// Way is a way to end a leader.
type Way string

// The ways.
const (
	Kill    Way = "kill"    // its process is killed, and says nothing
	Stop    Way = "stop"    // its process is frozen; its connection stays open
	Cut     Way = "cut"     // its connections are closed, and it can make no other; it goes on until its trust ends
	Resign  Way = "resign"  // it resigns and ends, as at a deployment
	Release Way = "release" // its ownership is ended by force; it goes on until it notices
)

// View is the part of a Hub that this package uses.
type View interface {
	State() *sources.State
	Row(s *sources.State, ref sources.Ref) *sources.Row
	Subscribe(from uint64) *sources.Subscription
}

// Options are the options of Run.
type Options struct {
	View       View
	Row        *sources.Row // of the election, at the start
	How        Way
	Rounds     int
	Candidates int           // of ours, at least 2; 0: the leaders belong to others, and How is Release
	Pause      time.Duration // a round begins after this and a random part of it again, once the election is led
	TTL        time.Duration // of our candidates' leases
	Keeps      time.Duration // how long the server may keep a leader that is silent; at least TTL
	// Command returns the process of a candidate, to be started with Task as the first line of its input.
	Command func() *exec.Cmd
	Task    Task // its Label is the beginning of the labels of our candidates
	// Release ends the ownership of the present owner by force, and returns when our watch has shown the end.
	Release func(context.Context) error
	Each    func(*Round) error // called after each round
	Say     func(text string)  // called when a wait begins, with what for
}

// enough bounds the time for our candidates to start, besides what the server takes.
const enough = 15 * time.Second

// Run runs a drill and returns what it measured, also with an error. The error wraps ErrStale, ErrStranger, ErrNoLeader,
// an error of Release or Each, or the cause of ctx. Our candidates have resigned when it returns, or been killed, within
// two seconds.
func Run(ctx context.Context, o Options) (result Result, err error) {
	r := &run{Options: o, wake: make(chan struct{}, 1)}
	r.sub = o.View.Subscribe(o.View.State().LastSeq)
	defer r.sub.Close()
	result = Result{Ref: o.Row.Ref, Kind: o.Row.Kind, How: o.How, Candidates: o.Candidates, TTL: o.TTL, Wanted: o.Rounds, Began: time.Now()}
	defer func() {
		r.leave(ctx)
		result.Over = time.Now()
	}()
	for range o.Candidates {
		if err := r.join(ctx); err != nil {
			return result, err
		}
	}
	if o.Candidates > 0 {
		o.Say(fmt.Sprintf("waiting until %d candidates of our own campaign and one of them leads", o.Candidates))
	}
	for n := 1; n <= o.Rounds; n++ {
		x, err := r.round(ctx, n)
		if err != nil {
			return result, err
		}
		result.Rounds = append(result.Rounds, x)
		if err := o.Each(&x); err != nil {
			return result, err
		}
	}
	return result, nil
}

// run is the state of one drill.
type run struct {
	Options
	sub     *sources.Subscription
	wake    chan struct{} // capacity 1: a member said something
	members []*member
	running sync.WaitGroup
	started int
	ending  *member   // whose leadership this round ends; nil between two rounds
	strange time.Time // the first look that showed an owner or waiter that is not ours; zero: the last one showed none
}

// join starts one candidate more.
func (r *run) join(ctx context.Context) error {
	r.started++
	t := r.Task
	t.Label = fmt.Sprint(t.Label, r.started)
	m, err := start(ctx, &r.running, r.Command(), t, r.wake)
	if err == nil {
		r.members = append(r.members, m)
	}
	return err
}

// leaveWithin bounds the time in which our candidates resign.
const leaveWithin = 1500 * time.Millisecond

// leave ends all candidates.
func (r *run) leave(ctx context.Context) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	for _, m := range r.members {
		if m == r.ending && r.How == Stop {
			m.kill() // frozen, it cannot resign
		}
		_ = m.in.Close() // it may be closed already
	}
	for _, m := range r.members {
		defer spawn.OnDone(late, m.kill)()
	}
	r.running.Wait()
}

// await waits until done returns true, at most for the given time, and then returns late. All the time it checks for
// what ends a drill.
func (r *run) await(ctx context.Context, within time.Duration, late error, done func(*sources.Row) (bool, error)) error {
	end := time.NewTimer(within)
	defer end.Stop()
	tick := time.NewTicker(100 * time.Millisecond) // for what becomes true without an event
	defer tick.Stop()
	for {
		for _, m := range r.members {
			m.receive()
		}
		_, _ = r.sub.Events(0) // what happened shows in the state
		s := r.View.State()
		row := r.View.Row(s, r.Row.Ref)
		if err := r.unexpected(row, s); err != nil {
			return err
		}
		if ok, err := done(row); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end.C:
			return fmt.Errorf("%w%s", late, r.trouble())
		case <-r.wake:
		case <-r.sub.Wake():
		case <-tick.C:
		}
	}
}

// trouble returns what one of our candidates complained about last; "": none did.
func (r *run) trouble() string {
	for _, m := range r.members {
		if m.trouble != "" {
			return ": " + format.Clean(m.trouble, 300)
		}
	}
	return ""
}

// toldWithin bounds the time between what our watch shows and what our candidates say about it.
const toldWithin = time.Second

// unexpected returns why the drill must end now; nil: it need not.
func (r *run) unexpected(row *sources.Row, s *sources.State) error {
	if row == nil || !row.Fresh(s) {
		for _, src := range s.Sources {
			if src.Name == r.Row.Ref.Source && src.Err != nil {
				return fmt.Errorf("%w: %w", ErrStale, src.Err)
			}
		}
		return ErrStale
	}
	if r.Candidates == 0 {
		return nil
	}
	who := ""
	if n := len(row.Owners) + row.Queue.Len; n > r.Candidates {
		who = fmt.Sprintf("%d own it or wait for it, and only %d are candidates of this drill", n, r.Candidates)
	}
	for i := range row.Owners {
		if o := &row.Owners[i]; !r.isOurs(o) {
			who = format.Label(refOf(o).Name(), 100) + " leads it, which is no candidate of this drill"
		}
	}
	switch {
	case who == "":
		r.strange = time.Time{}
	case r.strange.IsZero():
		r.strange = time.Now()
	case time.Since(r.strange) > toldWithin:
		return fmt.Errorf("%w: %s", ErrStranger, who)
	}
	for _, m := range r.members {
		if m != r.ending && m.gone() {
			return fmt.Errorf("our candidate %s has ended by itself%s", m.label, r.trouble())
		}
	}
	return nil
}

func refOf(o *sources.Owner) sources.OwnerRef {
	return sources.OwnerRef{ID: o.ID, Label: o.Label, Fence: o.Fence}
}

// isOurs reports whether an owner on our watch is one of our candidates. Where the server does not tell a client who
// it is, an owner with the right fence is, while one of them leads by its own word.
func (r *run) isOurs(o *sources.Owner) bool {
	return slices.ContainsFunc(r.members, func(m *member) bool {
		if m.won.Owner == "" {
			return !m.won.At.IsZero() && m.won.Fence == o.Fence && (m.leads() || m == r.ending)
		}
		return m.won.Owner == o.ID || m.won.Owner == o.Session
	})
}

// ready waits until a round can begin, and returns the leader: the owner, and the candidate of ours, nil if it is none.
func (r *run) ready(ctx context.Context) (owner sources.OwnerRef, leader *member, err error) {
	var since time.Time
	pause := r.Pause + rand.N(r.Pause+1)
	late := fmt.Errorf("%w, or our candidates do not campaign", ErrNoLeader)
	err = r.await(ctx, pause+2*r.Keeps+enough, late, func(row *sources.Row) (bool, error) {
		ok := len(row.Owners) == 1 && (row.Queue.How == sources.Unknown || row.Queue.Len >= r.Candidates-1)
		leader = nil
		for _, m := range r.members {
			if ok = ok && m.campaigns; m.leads() {
				leader = m
			}
		}
		if ok = ok && (r.Candidates == 0 || leader != nil && r.isOurs(&row.Owners[0])); !ok {
			since = time.Time{}
			return false, nil
		}
		if since.IsZero() {
			since = time.Now()
		}
		owner = refOf(&row.Owners[0])
		return time.Since(since) >= pause, nil
	})
	return owner, leader, err
}

// round ends one leader and waits for the next.
func (r *run) round(ctx context.Context, n int) (x Round, err error) {
	x.N = n
	if x.Leader, r.ending, err = r.ready(ctx); err != nil {
		return x, err
	}
	began := time.Now().Round(0)
	if r.How == Release {
		err = r.Release(ctx)
		x.Acted = lane.StampBetween(began, time.Now().Round(0), lane.Ours)
	} else {
		x.Acted, err = r.ending.end(r.How)
	}
	if err != nil {
		return x, err
	}
	r.Say(fmt.Sprintf("round %d of %d: %s %s, waiting for the next leader", n, r.Rounds, format.Label(x.Leader.Name(), 60), r.How.did()))
	if r.ending != nil {
		err = r.next(ctx, began, &x)
	}
	if err == nil {
		err = r.watched(ctx, &x)
	}
	if old := r.ending; err == nil && r.How != Release { // one whose ownership was ended by force campaigns again by itself
		old.kill()
		r.ending, r.members = nil, slices.DeleteFunc(r.members, func(m *member) bool { return m == old })
		err = r.join(ctx)
	}
	r.ending = nil
	return x, err
}

// next waits until a candidate of ours knows that it leads, and until the old leader knows that it did not any more.
func (r *run) next(ctx context.Context, began time.Time, x *Round) error {
	old := r.ending
	silent := r.How == Kill || r.How == Stop // one that says nothing any more led until it was ended
	var since time.Time                      // when nobody trusted to lead any more
	late := fmt.Errorf("%w: the old one does not notice that it leads no more", ErrNoLeader)
	err := r.await(ctx, 3*r.Keeps+enough, late, func(*sources.Row) (bool, error) {
		for _, m := range r.members {
			if m.leads() && m.won.At.After(began) { // the old one too, if its ownership was ended by force
				x.Won = m.won.At
			}
		}
		switch known := silent || old.over.At.After(began); {
		case !known:
			return false, nil
		case since.IsZero():
			since = time.Now()
		case x.Won.IsZero() && time.Since(since) > 2*r.Keeps:
			return false, fmt.Errorf("%w for %s, two TTLs%s", ErrNoLeader, format.Precise(2*r.Keeps), r.trouble())
		}
		return !x.Won.IsZero(), nil
	})
	x.Over = lane.Stamp{At: old.over.At, How: lane.Ours}
	switch {
	case silent:
		x.Over = x.Acted
	case r.How == Cut:
		x.Acted = lane.StampBetween(began, old.cut.At, lane.Ours)
	case r.How == Resign:
		x.Acted = lane.StampBetween(began, old.over.At, lane.Ours)
	}
	return err
}

// watched waits until our watch shows the next owner, and measures what it saw.
func (r *run) watched(ctx context.Context, x *Round) error {
	late := fmt.Errorf("%w on our watch for %s, two TTLs", ErrNoLeader, format.Precise(2*r.Keeps))
	return r.await(ctx, 2*r.Keeps+toldWithin, late, func(row *sources.Row) (bool, error) {
		last := len(row.Terms) - 1
		if len(row.Owners) != 1 || last < 1 || row.Terms[last].End.How != sources.Unknown || refOf(&row.Owners[0]) == x.Leader ||
			r.Candidates > 0 && !r.isOurs(&row.Owners[0]) {
			return false, nil
		}
		before, after := &row.Terms[last-1], &row.Terms[last]
		if before.Owner.ID != x.Leader.ID {
			return false, fmt.Errorf("%w: %s owned it in between", ErrStranger, format.Label(before.Owner.Name(), 100))
		}
		s := r.View.State()
		l := row.Lane(s)
		x.Next, x.Ended, x.Began, x.Every = after.Owner, before.End, after.Start, after.Every
		x.Watched = l.GapAfter(last-1, s.At).Unbroken
		if r.How == Release { // the end that was seen is what was done
			x.Acted = lane.StampBetween(x.Acted.Earliest(), sources.Earlier(x.Acted.At, x.Ended.At), lane.Ours)
		}
		return true, nil
	})
}
