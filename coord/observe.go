package coord

import (
	"bytes"
	"context"
	"iter"
	"sync"

	"coordtop/internal/ground/spawn"
)

// Leader is the known state of an election.
type Leader struct {
	// Known reports whether the service has reported the leader. If it cannot, or cannot be reached, the other fields
	// mean nothing. Led reports whether anybody leads. IsMe reports whether this session leads and may still trust
	// that.
	Led, Known, IsMe bool
	Owner            string // in the form of GrantInfo.Owner
	Fence            uint64 // 0: none
	Data             []byte // of the leader's last proclamation
	// Context ends when this leadership does. Its cause is ErrLeaderChanged when another follows, nobody leads, or the
	// same owner leads in a new term, and ErrObservationEnded when the observation is over. If IsMe is true, it also
	// ends with our lease and the lease's cause.
	Context context.Context
}

// Leader reads the present leader. It does not follow that leader afterwards: if IsMe is true, Context is that of our
// lease, else it has ended already with ErrObservationEnded. If the backend cannot report the leader, Known is false,
// without an error, unless we lead ourselves.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	mine := e.s.leaseOf(claimKey{KindElection, e.name})
	var l Leader
	if _, ok := e.s.ds.(Describer); ok {
		d, err := e.s.describe(ctx, KindElection, e.name)
		if err != nil {
			return Leader{}, err
		}
		l = leaderIn(d)
		mine = e.s.leaseOf(claimKey{KindElection, e.name})
		l.IsMe = l.isOf(mine)
	} else if err := e.s.over(); err != nil {
		return Leader{}, e.s.claimError("describe", e.claim(nil), err)
	} else if mine != nil {
		l = Leader{Led: true, Known: true, IsMe: true, Owner: mine.Owner(), Fence: mine.Fence()}
	}
	if l.IsMe {
		l.Context = mine.Context()
		return l, nil
	}
	over, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	cancel(ErrObservationEnded)
	l.Context = over
	return l, nil
}

// leaderIn returns the leader that a description names.
func leaderIn(d Description) Leader {
	if len(d.Owners) == 0 {
		return Leader{Known: true}
	}
	o := d.Owners[0]
	return Leader{Known: true, Led: true, Owner: o.ID, Fence: o.Fence, Data: o.Data}
}

// isOf reports whether the leader has the lease mine, which may be nil.
func (l Leader) isOf(mine *Lease) bool {
	if !l.Led || mine == nil {
		return false
	}
	if id := mine.Owner(); id != "" {
		return id == l.Owner && (l.Fence == 0 || mine.Fence() == 0 || l.Fence == mine.Fence())
	}
	return l.Fence != 0 && l.Fence == mine.Fence()
}

// sameTerm reports whether two known leaders belong to one uninterrupted leadership, as far as the service reports.
func (l Leader) sameTerm(o Leader) bool {
	return l.Led == o.Led && l.Owner == o.Owner && l.Fence == o.Fence
}

// Observe yields the present leader, then each change: another leader, nobody, a new term of the same owner, or a
// proclamation, which keeps the Context that was yielded before. If reading fails for a while, a Leader that is not
// Known is yielded once; the earlier Context does not end, because no change is known.
//
// Contexts also end while the body of the loop runs, so that the body may block on one. A body that is slower than the
// changes receives only the latest. If the service reports changes, each arrives as it happens; else the election is
// read every Poll, and a change between two reads may be missed. An error is yielded once, with the zero Leader, and
// ends the sequence (ErrUnsupported if the backend cannot report the leader). The sequence ends without an error when
// ctx or the session does. The goroutines of a sequence end before its loop is left.
func (e *Election) Observe(ctx context.Context) iter.Seq2[Leader, error] {
	return func(yield func(Leader, error) bool) {
		both, cancel := e.s.under(ctx)
		sightings := make(chan sighting)
		o := &observation{e: e, news: make(chan news, 1)}
		var running sync.WaitGroup
		defer func() { cancel(); running.Wait() }()
		spawn.Go(both, &running, func() { e.forward(both, sightings) })
		spawn.Go(both, &running, func() { o.run(both, sightings) })
		for n := range o.news {
			if ctx.Err() != nil || e.s.over() != nil || !yield(n.Leader, n.err) {
				return
			}
		}
	}
}

// sighting is one description or error that follow yields.
type sighting struct {
	d   Description
	err error
}

// forward sends what follow yields about the election, and closes the channel at the end.
func (e *Election) forward(ctx context.Context, sightings chan<- sighting) {
	defer close(sightings)
	for d, err := range e.s.follow(ctx, KindElection, e.name, e.o.Poll) {
		select {
		case sightings <- sighting{d, err}:
		case <-ctx.Done():
			return
		}
	}
}

// news is an element of Observe's sequence.
type news struct {
	Leader
	err error
}

// observation is one loop over Observe. Its fields belong to the goroutine of run.
type observation struct {
	e     *Election
	news  chan news // the latest that was not yielded yet
	known Leader    // the last known leader
	shown Leader    // the last one that was yielded

	ctx    context.Context // Context of the present leader; nil before the first
	end    context.CancelCauseFunc
	mine   *Lease      // its end also ends ctx
	unbind func() bool // undoes bind
}

// run works until ctx ends or sightings is closed, which happens after an error.
func (o *observation) run(ctx context.Context, sightings <-chan sighting) {
	defer close(o.news)
	defer o.endLeader(ErrObservationEnded)
	for {
		changed := o.e.s.leasesChanged()
		if o.shown.Known {
			o.show(o.known) // IsMe may have changed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case l, ok := <-sightings:
			if !ok {
				return
			}
			if l.err != nil && !isTransient(l.err) {
				o.endLeader(ErrObservationEnded)
				err := o.e.s.claimError("observe", o.e.claim(nil), l.err)
				select { // keep the order: the leader before the error
				case o.news <- news{err: err}:
				case <-ctx.Done():
				}
				return
			}
			o.see(l)
		}
	}
}

func (o *observation) see(l sighting) {
	if l.err == nil {
		o.show(leaderIn(l.d))
		return
	}
	if o.ctx == nil {
		o.beginLeader()
	}
	if o.shown.Known || o.shown.Context == nil {
		o.yield(Leader{Context: o.ctx})
	}
}

// show yields a known leader, if it differs from the one that was yielded last.
func (o *observation) show(l Leader) {
	mine := o.e.s.leaseOf(claimKey{KindElection, o.e.name})
	l.IsMe = l.isOf(mine)
	switch {
	case o.ctx == nil:
		o.beginLeader()
	case !l.sameTerm(o.known), o.mine != nil && o.mine.Check() != nil:
		o.endLeader(ErrLeaderChanged)
		o.beginLeader()
	}
	if l.IsMe && o.mine != mine {
		o.bind(mine)
	}
	l.Context = o.ctx
	o.known = l
	s := o.shown
	if s.Known && s.Context == l.Context && s.IsMe == l.IsMe && bytes.Equal(s.Data, l.Data) {
		return
	}
	o.yield(l)
}

// yield replaces the news that the loop has not received yet. Nobody else sends, so it does not block.
func (o *observation) yield(l Leader) {
	select {
	case <-o.news:
	default:
	}
	o.news <- news{Leader: l}
	o.shown = l
}

// beginLeader makes the context of a new leader.
func (o *observation) beginLeader() {
	o.ctx, o.end = context.WithCancelCause(context.WithoutCancel(o.e.s.keeper.ctx))
}

// endLeader ends the context of the present leader; a context that ended with our lease keeps that cause.
func (o *observation) endLeader(cause error) {
	if o.ctx == nil {
		return
	}
	if o.mine != nil {
		if o.unbind(); o.mine.Check() != nil {
			cause = context.Cause(o.mine.Context()) // the lease ended first
		}
		o.mine = nil // it must not end the context of the next leader
	}
	o.end(cause)
}

// bind ends the present context with our lease.
func (o *observation) bind(mine *Lease) {
	end := o.end
	o.mine = mine
	o.unbind = spawn.OnDone(mine.Context(), func() { end(context.Cause(mine.Context())) })
}
