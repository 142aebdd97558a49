package sources

import (
	"errors"
	"fmt"
)

// ErrRecording reports that Inputs are not those of one Hub from its beginning, in their order.
var ErrRecording = errors.New("not a whole recording")

// Replayer makes the States and Events of a Hub again from its Inputs. It starts no goroutine
// and reads no clock.
type Replayer struct{ hub *Hub }

// NewReplayer returns a Replayer that has taken in nothing yet. Of o it uses the bounds of
// what is remembered; where they are those of the recorded Hub, the events kept are too.
func NewReplayer(o HubOptions) *Replayer {
	return &Replayer{newHub(HubOptions{Events: o.Events})}
}

// Hub is what is fed. It can be read and subscribed to like a live one; nothing else may be
// done with it, and it needs no Close.
func (r *Replayer) Hub() *Hub { return r.hub }

// Apply takes in the next Input; the Inputs of one recording come all, in the order of Seq.
// An error wraps ErrRecording, and in was not taken in.
func (r *Replayer) Apply(in Input) error {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	f, err := h.model.replayable(&in)
	if err != nil {
		return fmt.Errorf("%w: input %d, %s: %w", ErrRecording, in.Seq, in.Kind, err)
	}
	h.enterLocked(f, &in)
	return nil
}

// replayable finds the source that in concerns, and what in lacks.
func (m *model) replayable(in *Input) (f *hubSource, err error) {
	switch {
	case in.Seq != m.inputs+1:
		return nil, fmt.Errorf("input %d is due", m.inputs+1)
	case (in.Kind == InputStarted) != (in.Seq == 1):
		return nil, errors.New("it is the first and nothing else")
	}
	switch k := in.Kind; {
	case k == InputStarted && in.Thresholds == nil, k == InputExpected && in.Expected == nil,
		k == InputNote && in.Note == nil, k == InputDisconnected && in.Problem == nil:
		return nil, errors.New("it says nothing")
	}
	switch in.Kind {
	case InputChange, InputConnected, InputDisconnected, InputSilent:
		f = m.source(in.Source)
		if f == nil || in.Kind == InputSilent && f.scopes[in.Scope] == nil {
			return nil, fmt.Errorf("no scope %q of source %q", in.Scope, in.Source)
		}
	}
	return f, nil
}
