package sqlite

import (
	"context"
	"errors"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// A thin group ends when it is so large, or spans so much time: so long it takes to go to an instant
// in it.
const (
	thinInputs = 20_000
	thinBytes  = 4 << 20
	thinSpan   = 6 * time.Hour
)

const (
	thinEvery = time.Hour             // that much is thinned at a time, so that groups become long ones
	thinStep  = 15 * time.Millisecond // of one step
)

// thinning is what is being thinned. The file has nothing of it: where it is lost, the group is read
// again, and another thin one begun.
type thinning struct {
	thinner *sources.Thinner // nil: the next whole group begins a thin one
	encoder *sources.Encoder
	into    thinGroup
	end     uint64          // Seq of the last whole Input
	first   []func()        // each takes a step of its own, before anything of queue
	whole   *cursor         // the group that is read; nil: none
	span    period          // of it
	queue   []sources.Input // of it
	read    bool            // all of it was
}

// thinGroup is a thin group while it grows.
type thinGroup struct {
	id, run, start int64
	key            []byte // packed, and not written yet
	inputs         int
	length         int64 // up to the last chunk
	chunk          int64 // the last one, which grows; 0: there is none yet
	body           []byte
}

// thin goes on with thinning, for some milliseconds: the oldest whole group that was over before, once it
// was for so long. A group becomes thin, or a part of the thin one before it, in one transaction. One
// that cannot be replayed is of use to nobody: it is dropped.
func (w *Writer) thin(before time.Time, late time.Duration) (did bool, err error) {
	t := &w.thinning
	if t.thinner != nil {
		late = 0
	}
	if len(t.first) > 0 {
		t.first[0]()
		t.first = t.first[1:]
		return true, nil
	}
	began := time.Now()
	err = w.ask(func(ctx context.Context, q *query) error {
		if t.whole == nil {
			return w.beginThin(ctx, q, before.Add(-late).UnixNano())
		}
		if len(t.queue) == 0 && !t.read {
			t.queue, q.err = t.whole.inputs(ctx, q)
			t.read = len(t.queue) == 0
		}
		return q.err
	})
	whole := t.whole
	for err == nil && len(t.queue) > 0 && time.Since(began) < thinStep {
		err = t.thinner.Add(t.queue[0])
		t.queue = t.queue[1:]
	}
	if err == nil && whole != nil && t.read {
		err = w.writeThin()
	}
	if err != nil || whole == nil {
		*t = thinning{}
	}
	if whole != nil && (errors.Is(err, history.ErrDamaged) || errors.Is(err, sources.ErrRecording)) {
		err = w.tx(func(t *tx) error {
			t.dropGroup(whole.group)
			return t.err
		})
	}
	return whole != nil && err == nil, err
}

// beginThin begins with the next whole group that was over before, if there is one.
func (w *Writer) beginThin(ctx context.Context, q *query, before int64) error {
	t := &w.thinning
	var group int64
	q.each(ctx, "select id, start, until from gop where thin = 0 and until < ? and id <> ? order by id limit 1", []any{before, w.group.id},
		[]any{&group, &t.span.from, &t.span.to}, func() {})
	if group == 0 || q.err != nil {
		return q.err
	}
	t.whole, t.read = &cursor{group: group, decoder: sources.NewDecoder()}, false
	run := t.into.run
	k, err := t.whole.begin(ctx, q, group)
	if err != nil {
		return err
	}
	if t.thinner == nil || t.whole.run != run || k.Seq() != t.end || t.into.inputs >= thinInputs || t.into.length >= thinBytes || t.span.to-t.into.start >= int64(thinSpan) {
		t.encoder, t.into = sources.NewEncoder(sources.EncoderOptions{}), thinGroup{id: group, run: t.whole.run, start: t.span.from}
		var key *sources.Keyframe
		t.first = []func(){
			func() { t.thinner = sources.NewThinner(k) },
			func() { key = t.thinner.Keyframe() },
			func() { t.into.key = t.encoder.Keyframe(nil, key) },
			func() { t.into.key = packed(t.into.key) },
		}
	}
	return nil
}

// writeThin puts what is left of the group that was read in the place of all of it.
func (w *Writer) writeThin() error {
	t := &w.thinning
	into, whole, inputs := &t.into, t.whole, t.thinner.Take()
	for i := range inputs {
		into.body = t.encoder.Input(into.body, &inputs[i])
	}
	into.inputs += len(inputs)
	t.end, t.whole = whole.last, nil
	return w.tx(func(t *tx) error {
		if into.key != nil {
			t.dropBody(into.id)
			t.exec("update gop set body = ? where id = ?", into.key, into.id)
			into.key = nil
		} else {
			t.dropGroup(whole.group)
		}
		span := w.thinning.span
		t.exec("update gop set thin = ?, until = ? where id = ?", unsigned(whole.last+1), span.to, into.id)
		switch {
		case len(into.body) == 0:
		case into.chunk == 0:
			into.chunk = t.insert("insert into chunk(gop, first, size, start, until, body) values(?,?,?,?,?,?)", into.id, into.length, len(into.body), span.from, span.to, packed(into.body))
		default:
			t.exec("update chunk set size = ?, until = ?, body = ? where id = ?", len(into.body), span.to, packed(into.body), into.chunk)
		}
		if len(into.body) >= chunkBytes {
			into.length += int64(len(into.body))
			into.chunk, into.body = 0, nil
		}
		return t.err
	})
}
