package record

import (
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// group is the open group of Inputs.
type group struct {
	open   bool
	next   uint64 // Seq of the next Input
	count  int
	events int // number of events, without renewals
	left   int // bytes of Inputs that the group lacks to be worth its keyframe; 0 or less: none
	began  time.Time
}

// over reports whether another keyframe is due: the Inputs after the last one take a multiple of its size, or reading
// them takes long, which each jump of a replay and each start must do.
func (g *group) over(now time.Time) bool {
	return g.count >= leastInputs && g.left <= 0 || g.count >= mostInputs || g.events >= mostEvents || now.Sub(g.began) >= longestGroup
}

// The bounds of a group. An Input that changes an owner costs a jump 7 to 18 us, a renewal 2 to 4.
const (
	leastInputs  = 20_000
	mostInputs   = 80_000
	mostEvents   = 40_000
	timesKey     = 4 // multiple of the size of the keyframe
	longestGroup = time.Hour
)

// batcher writes one Hub in one run to an Output.
type batcher struct {
	hub     *sources.Hub
	store   Output
	encoder *tape.Encoder
	group   group
	derived derived
	flushed time.Time     // everything before this was written
	idle    time.Duration // shortest time between two writes while nothing happens; 0: flush always writes

	thin    bool // the Inputs have no renewals, because an earlier version left them out
	follows bool // the next group follows the previous one without a hole, although that was thin
}

// behind is longer than the time by which the written terms, those of the last State, can lag behind the inputs. If a
// run was killed, it may not have written ends of terms that the next run knows from the inputs.
const behind = 10 * time.Second

// newBatcher returns a batcher for a run that began at began. The previous run wrote everything before stored.
func newBatcher(hub *sources.Hub, store Output, o tape.EncoderOptions, began, stored time.Time) *batcher {
	return &batcher{hub: hub, store: store, encoder: tape.NewEncoder(o), flushed: began,
		derived: derived{began: began, stored: stored.Add(-behind), state: &sources.State{}}}
}

// flush writes everything before now. take returns the Inputs since its last call, and how many were lost after them.
func (r *batcher) flush(now time.Time, take func() ([]sources.Input, uint64)) error {
	state := r.hub.State()
	var key *sources.Keyframe
	if !r.group.open || r.group.over(now) {
		key = r.hub.Keyframe()
	}
	inputs, lost := take()
	if key == nil && len(inputs) == 0 && lost == 0 && state == r.derived.state && now.Sub(r.flushed) < r.idle {
		return nil
	}
	if key != nil && len(inputs) > 0 && inputs[0].Seq == 1 { // these are all Inputs of the Hub
		key = &sources.Keyframe{}
	}
	for i := range inputs { // the terms come from the last State of the Inputs
		if s := inputs[i].State; s != nil && s.Rev > state.Rev {
			state = s
		}
	}
	end := len(inputs)
	for key != nil && end > 0 && inputs[end-1].Seq > key.Seq {
		end--
	}
	b := r.batch(inputs[:end], now)
	if key != nil {
		at := key.At.Wall.Round(0)
		if at.IsZero() { // nothing happened yet
			at = r.flushed
		}
		follows := r.group.open || r.follows
		if r.follows = false; r.group.open {
			if b.Span.To = at; b.Count > 0 {
				if err := r.store.Write(b); err != nil {
					return err
				}
			}
		}
		head := r.encoder.Keyframe(nil, key)
		r.group = group{open: true, next: key.Seq + 1, left: timesKey * len(head), began: now}
		b = r.batch(inputs[end:], now)
		b.Keyframe, b.Span.From, b.Thin, b.Follows = head, at, r.thin, follows
		b.Seq[0] = key.Seq
	}
	r.group.open = r.group.open && lost == 0
	since := sources.Earlier(r.flushed, b.Span.From)
	written, took := now, time.Now()
	write := func(b *history.Batch) error {
		r.group.events += len(b.Events)
		return r.store.Write(b)
	}
	err := r.derived.flush(b, r.encoder, r.hub, state, since, write, func() (err error) {
		if time.Since(took) >= every {
			took = time.Now()
			written, err = r.meanwhile(written, take)
		}
		return err
	})
	if err == nil {
		r.flushed = written
	}
	return err
}

// meanwhile writes the Inputs that arrived since an instant, and returns the time before which all are written.
func (r *batcher) meanwhile(since time.Time, take func() ([]sources.Input, uint64)) (until time.Time, err error) {
	inputs, lost := take()
	if len(inputs) == 0 && lost == 0 { // for example while a recording is copied, whose Hub has no clock
		return since, nil
	}
	b := r.batch(inputs, r.hub.Now().Wall)
	b.Span.From = since
	if r.group.open = r.group.open && lost == 0; b.Count > 0 {
		err = r.store.Write(b)
	}
	return b.Span.To, err
}

// batch encodes inputs for the open group. It ends the group at the first input that does not follow.
func (r *batcher) batch(inputs []sources.Input, now time.Time) *history.Batch {
	b := &history.Batch{Span: history.Span{From: r.flushed, To: now}}
	for i := range inputs {
		in := &inputs[i]
		if !r.group.open || in.Seq < r.group.next {
			continue
		}
		if in.Seq != r.group.next {
			r.group.open = false
			break
		}
		before := len(b.Inputs)
		b.Inputs = r.encoder.Input(b.Inputs, in)
		r.group.left -= len(b.Inputs) - before
		b.Seq[1] = in.Seq
		if b.Count == 0 {
			b.Seq[0] = in.Seq
		}
		b.Count++
		r.group.next++
		r.group.count++
	}
	return b
}
