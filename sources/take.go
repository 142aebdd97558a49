package sources

import "time"

// take takes in what comes from outside: it reads the clock, takes in what that decides, then
// in, and publishes if that is due. f is the source that in concerns; nil: none.
func (h *Hub) take(f *feed, in *Input) {
	h.mu.Lock()
	defer h.mu.Unlock()
	in.At = h.clock.Now()
	h.checkClockLocked(in.At)
	h.changedLocked(in.At, h.enterLocked(f, in))
}

// enterLocked is the only door to what a Hub knows: nothing behind it reads a clock, and
// whatever passes it is recorded. It returns how soon that must be published; publishing is an
// Input of its own.
func (h *Hub) enterLocked(f *feed, in *Input) urgency {
	h.inputs++
	in.Seq, h.at = h.inputs, in.At
	if f != nil {
		in.Source = f.Name
	}
	u := h.dispatchLocked(f, in)
	if h.recorder != nil {
		h.recorder.add(in)
	}
	return u
}

func (h *Hub) dispatchLocked(f *feed, in *Input) urgency {
	switch in.Kind {
	case InputStarted:
		h.start, h.limit = in.At, *in.Thresholds
		h.state.Store(&State{At: in.At.Wall, Thresholds: h.limit})
		return idle
	case InputSources:
		h.addLocked(in.Added)
		return urgent
	case InputChange:
		return h.applyLocked(f, &in.Change)
	case InputConnected:
		f.Retry = time.Time{}
		return calm
	case InputDisconnected:
		h.disconnectedLocked(f, in.Problem, in.Retry)
		return urgent
	case InputExpected:
		h.expectLocked(in.Expected)
		return idle
	case InputNote:
		h.noteLocked(*in.Note)
		return urgent
	case InputSilent:
		h.silentLocked(f.scopes[in.Scope])
		return urgent
	case InputClockStep:
		h.clockStepLocked(in.Step)
		return urgent
	case InputForgotten:
		if slot, ok := h.index.find(in.Ref); ok {
			h.vacateLocked(slot)
		}
		return normal
	case InputPublished:
		in.State = h.stateLocked()
		h.state.Store(in.State)
		h.ring.wake()
		return idle
	}
	panic("sources: an input of no kind")
}
