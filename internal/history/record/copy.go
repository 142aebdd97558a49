package record

import (
	"context"
	"errors"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// Copy records a stretch of a recording again: it replays the inputs and derives terms and events from them. begin
// makes the Output for each run. With masked it first replaces every name, label and sentence, equal texts by equal
// ones, but not the verb and the outcome of an action. An error wraps history.ErrNothing if nothing is recorded in
// span.
func Copy(ctx context.Context, from history.Log, span history.Span, masked bool, begin func(history.Run) (Output, error)) error {
	runs, err := from.Runs(ctx)
	if err != nil {
		return err
	}
	texts := newDisguise(masked)
	copied := false
	for _, r := range runs {
		if !r.From.Before(span.To) || !span.From.Before(r.To) {
			continue
		}
		c, err := from.Cursor(ctx, r.ID, sources.Later(span.From, r.From))
		if errors.Is(err, history.ErrNothing) {
			continue
		}
		if err != nil {
			return err
		}
		p := &copying{cursor: c, texts: texts, to: span.To, begin: begin, source: r}
		if err := p.all(ctx); err != nil {
			return err
		}
		copied = true
	}
	if !copied {
		return history.ErrNothing
	}
	return nil
}

// disguise replaces texts by encoding and decoding them.
type disguise struct {
	encoder *tape.Encoder // nil: nothing is replaced
	decoder *tape.Decoder
}

func newDisguise(masked bool) *disguise {
	if !masked {
		return &disguise{}
	}
	return &disguise{tape.NewEncoder(tape.EncoderOptions{Disguised: true}), tape.NewDecoder()}
}

func (m *disguise) keyframe(k *sources.Keyframe) (*sources.Keyframe, error) {
	if m.encoder == nil {
		return k, nil
	}
	return m.decoder.Keyframe(m.encoder.Keyframe(nil, k))
}

func (m *disguise) inputs(list []sources.Input) (out []sources.Input, err error) {
	if m.encoder == nil {
		return list, nil
	}
	var b []byte
	accounts := map[uint64]string{} // of actions
	for _, in := range list {
		if in.Note != nil && in.Note.Kind == sources.EventAction {
			if a, ok := action.AccountOf(in.Note.Detail); ok {
				a.Who, a.Reason, a.More = m.encoder.Disguised(a.Who), m.encoder.Disguised(a.Reason), ""
				accounts[in.Seq] = a.String()
			}
		}
		b = m.encoder.Input(b, &in)
	}
	err = m.decoder.Inputs(b, func(in *sources.Input) bool {
		if account, is := accounts[in.Seq]; is {
			in.Note.Detail = account
		}
		out = append(out, *in)
		return true
	})
	return out, err
}

// copying is the copy of one run.
type copying struct {
	cursor history.Cursor
	texts  *disguise
	to     time.Time
	source history.Run
	begin  func(history.Run) (Output, error)
	follow *following // nil: the copy ends where no more is recorded

	replay  *sources.Replayer
	applied sources.Input // the last one
	store   Output
	batcher *batcher
	inputs  []sources.Input // since the last write
}

func (p *copying) all(ctx context.Context) (err error) {
	defer func() {
		if p.store != nil {
			err = errors.Join(err, p.store.Close())
		}
	}()
	for {
		piece, err := p.cursor.Next(ctx)
		if err != nil {
			return err
		}
		if piece.Empty() {
			more, err := p.goesOn(ctx)
			if !more || err != nil {
				return err
			}
			continue
		}
		if p.follow != nil {
			p.follow.idle = false
		}
		if piece.Keyframe != nil {
			if p.filling() && !piece.Keyframe.At.Wall.Before(p.to) {
				return p.over(ctx, piece.Keyframe.At.Wall, len(piece.Inputs))
			}
			if err := p.restart(&piece); err != nil {
				return err
			}
		}
		inputs, err := p.texts.inputs(piece.Inputs)
		if err != nil {
			return err
		}
		for i, in := range inputs {
			stepped := in.Kind == sources.InputClockStep && p.store != nil && p.filling()
			if stepped { // the end was computed for a clock that goes on
				p.to = p.reached()
			}
			if stepped || !in.At.Wall.Before(p.to) {
				return p.over(ctx, in.At.Wall, len(inputs)-i)
			}
			if p.due(&in) {
				if err := p.write(); err != nil {
					return err
				}
			}
			if p.store == nil && in.At.Wall.After(p.follow.from) {
				if err := p.openLater(); err != nil {
					return err
				}
			}
			if err := p.replay.Apply(in); err != nil {
				return err
			}
			p.applied = in
			if p.store != nil { // otherwise the store has it
				p.inputs = append(p.inputs, in)
			}
		}
	}
}

// due reports whether a write is due before an Input. Each write of a fill lets the present recorder read again what it
// knows, but of a row that comes and goes within one write only the events are stored.
func (p *copying) due(in *sources.Input) bool {
	n := len(p.inputs)
	if n == 0 {
		return false
	}
	since, published := in.At.Wall.Sub(p.inputs[0].At.Wall), p.inputs[n-1].Kind == sources.InputPublished
	if p.filling() && since < fillEvery {
		published = len(in.Change.Gone) > 0 || in.Kind == sources.InputForgotten
	}
	return published && since >= every
}

// filling reports whether the copy goes on with a run up to an instant.
func (p *copying) filling() bool { return p.follow != nil && !p.to.Equal(EndOfTime) }

// restart continues with the keyframe of a Piece. At the first one it opens the store.
func (p *copying) restart(piece *history.Piece) error {
	if p.store != nil {
		if err := p.write(); err != nil {
			return err
		}
	}
	k, err := p.texts.keyframe(piece.Keyframe)
	if err != nil {
		return err
	}
	p.replay, p.inputs, p.applied = sources.NewReplayerAt(k, sources.HubOptions{}), nil, sources.Input{Seq: k.Seq, At: k.At}
	at := k.At.Wall
	if at.IsZero() {
		at = p.source.From
	}
	if p.store == nil {
		if p.follow != nil && at.Before(p.follow.from) {
			return nil
		}
		seq := uint64(0)
		if p.follow != nil {
			seq = k.LastEvent
		}
		if err := p.open(at, seq); err != nil {
			return err
		}
	} else {
		p.batcher.hub, p.batcher.group.open = p.replay.Hub(), false
		if p.batcher.follows = !piece.Hole; p.batcher.follows {
			p.batcher.derived.seq = k.LastEvent
		}
	}
	p.batcher.thin = piece.Thin
	return p.batcher.flush(at, p.take)
}

// openLater opens the store behind what it has already.
func (p *copying) openLater() error {
	if err := p.open(p.follow.from, p.replay.Hub().Keyframe().LastEvent); err != nil {
		return err
	}
	return p.batcher.flush(p.follow.from, p.take)
}

// open opens the store at an instant, with the events after the one with the number seq.
func (p *copying) open(at time.Time, seq uint64) error {
	r := p.source
	r.Span = history.Span{From: at, To: at}
	store, err := p.begin(r)
	if err != nil { // store may then be a non-nil interface with a nil pointer
		return err
	}
	p.store = store
	var stored time.Time
	if p.follow != nil {
		stored = store.Before()
	}
	p.batcher = newBatcher(p.replay.Hub(), store, tape.EncoderOptions{}, at, stored)
	p.batcher.derived.seq = seq
	return nil
}

// write records what was replayed.
func (p *copying) write() error { return p.batcher.flush(p.reached(), p.take) }

// reached returns the time up to which everything was replayed.
func (p *copying) reached() time.Time {
	now := p.batcher.flushed
	if n := len(p.inputs); n > 0 {
		now = sources.Later(now, p.inputs[n-1].At.Wall)
	}
	return now
}

func (p *copying) take() (inputs []sources.Input, lost uint64) {
	inputs, p.inputs = p.inputs, nil
	return inputs, 0
}
