package sources

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"coordtop/internal/ground/failure"
)

// Follower keeps a Hub equal to that of another process, from its Inputs, through several runs. Unlike that of a
// Replayer, its Hub stays the same: rows keep their slots, Rev and the numbers of events grow, and a subscription counts
// an event as missed where a run was begun. One goroutine calls Begin and Follow; Doubt and the Hub are safe for concurrent use.
type Follower struct {
	hub   *Hub
	since time.Time // since when the State is old; zero: it is not
	why   error
}

// ErrUnseen is wrapped by the error of each source of a State that a Follower publishes as old. It says nothing about the
// server: the other process does not observe it, or what it sees cannot be read.
var ErrUnseen = errors.New("nobody is seen to observe it")

// NewFollower returns a Follower without any Input. It uses only o.Events.
func NewFollower(o HubOptions) *Follower {
	f := &Follower{hub: newHub(HubOptions{Events: o.Events})}
	f.hub.model.ring.lean = true
	return f
}

// Hub returns the Hub. It can be read and subscribed to like a live one; its other methods must not be called, and it
// needs no Close.
func (f *Follower) Hub() *Hub { return f.hub }

// Begin continues with the model of a sound Keyframe, see Keyframe.Sound, of another run or behind a hole. The State
// stays until the next Follow.
func (f *Follower) Begin(k *Keyframe) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.hub.model.succeed(k)
}

// Follow applies the next Inputs of the run, and then publishes their last State. None may be left out. An error wraps
// ErrRecording; then the Inputs before the wrong one were applied.
func (f *Follower) Follow(inputs []Input) error {
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	defer f.publishLocked()
	for i := range inputs {
		in := inputs[i]
		of, err := h.model.replayable(&in)
		if err != nil {
			return fmt.Errorf("%w: input %d, %s: %w", ErrRecording, in.Seq, in.Kind, err)
		}
		h.model.apply(of, &in)
	}
	return nil
}

// Doubt publishes the State as old since an instant, for a reason, until the end of the doubt: with a nil error.
func (f *Follower) Doubt(since time.Time, why error) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	if same := f.why == why || f.why != nil && why != nil && f.why.Error() == why.Error(); same && since.Equal(f.since) {
		return
	}
	f.since, f.why = since, why
	f.publishLocked()
}

// publishLocked publishes the State of the model, as old while there is a doubt.
func (f *Follower) publishLocked() {
	s := f.hub.model.published
	if f.why != nil {
		s = s.doubted(f.since, f.why)
	}
	if s != f.hub.state.Load() {
		f.hub.state.Store(s)
		f.hub.model.ring.wake(true)
	}
}

// doubted returns s with all that is live as old since an instant.
func (s *State) doubted(since time.Time, why error) *State {
	old := s.Darkened(func(_ *Scope, row *Row) time.Time {
		if row != nil {
			return time.Time{} // its scope is old
		}
		return since
	})
	for i := range old.Scopes {
		if c := &old.Scopes[i]; c.Health == HealthLive {
			c.Health = HealthStale
		}
	}
	for i := range old.Sources {
		c := &old.Sources[i]
		if c.Health != HealthConnecting {
			c.Health = HealthStale
		}
		c.Err = cmp.Or(c.Err, failure.With(why, ErrUnseen))
	}
	return old
}

// succeed makes the model that of a Keyframe. Rows with a Ref that the model had keep their slots.
func (m *model) succeed(k *Keyframe) {
	was := m.homes
	m.homes = map[Ref]Vacancy{}
	taken := map[int]bool{}
	for _, row := range m.rows {
		if row != nil {
			m.homes[row.Ref] = Vacancy{row.Slot, row.Gen}
			taken[row.Slot] = true
		}
	}
	for _, v := range was {
		if !taken[v.Slot] {
			m.free = append(m.free, v)
		}
	}
	moved := m.moved(k)
	m.index.clear()
	m.sources, m.scopes, m.rows = nil, nil, nil
	m.restore(moved)
}

// moved returns a copy of k with the rows in our slots, and with numbers that continue ours.
func (m *model) moved(k *Keyframe) *Keyframe {
	to, last := *k, m.ring.newest()
	if last > 0 {
		last++ // the subscriptions count it as missed
	}
	to.LastEvent, to.Free = max(last, k.LastEvent), slices.Clone(m.free)
	to.Rows = make([]*Row, len(m.rows))
	to.Known, to.Queued = map[int]*Primitive{}, map[int]*Primitive{}
	rev, slots := m.published.Rev, make([]int, len(k.Rows))
	for slot, row := range k.Rows {
		if row == nil {
			continue
		}
		own := *row
		if home, ok := m.homes[row.Ref]; ok {
			own.Slot, own.Gen = home.Slot, home.Gen
			delete(m.homes, row.Ref)
		} else {
			own.Slot, own.Gen = len(to.Rows), 0
			to.Rows = append(to.Rows, nil)
		}
		own.Rev += rev
		to.Rows[own.Slot], slots[slot] = &own, own.Slot
		if p := k.Known[slot]; p != nil {
			to.Known[own.Slot] = p
		}
		if p := k.Queued[slot]; p != nil {
			to.Queued[own.Slot] = p
		}
	}
	published := State{Rev: rev, LastSeq: to.LastEvent, Rows: make([]*Row, len(to.Rows))}
	if k.Published != nil {
		published = *k.Published
		published.Rev, published.LastSeq, published.Rows = rev+k.Published.Rev, to.LastEvent, make([]*Row, len(to.Rows))
		for slot, row := range k.Published.Rows {
			if row == nil || k.Rows[slot] == nil || k.Rows[slot].Ref != row.Ref { // it is gone, which was not published
				continue
			}
			at := slots[slot]
			own := to.Rows[at]
			if row != k.Rows[slot] {
				draft := *row
				draft.Slot, draft.Gen, draft.Rev = own.Slot, own.Gen, row.Rev+rev
				own = &draft
			}
			published.Rows[at] = own
		}
	}
	to.Published = &published
	return &to
}
