package tables

import (
	"context"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// The group with which a Cursor begins: of a run, or of the one that recorded at an instant.
const (
	groupBefore     = "select id from gop where start <= ?1 and run = ?2 order by start desc, id desc limit 1"
	groupAfter      = "select id from gop where start > ?1 and run = ?2 order by start, id limit 1"
	groupThen       = "select id from gop where start <= ?1 and run = (select max(id) from run where began <= ?1 and last >= ?1) order by start desc, id desc limit 1"
	groupOfAnyAfter = "select id from gop where start > ?1 order by start, id limit 1"
)

// Cursor returns a Cursor at the last keyframe that is not after an instant, see history.Log.
func (r *Reader) Cursor(ctx context.Context, run int64, at time.Time) (history.Cursor, error) {
	texts, args := [2]string{groupBefore, groupAfter}, []any{at.UnixNano(), run}
	if run == 0 {
		texts, args = [2]string{groupThen, groupOfAnyAfter}, args[:1]
	}
	c := &cursor{reader: r, decoder: tape.NewDecoder()}
	err := r.Ask(ctx, func(q *Query) (err error) {
		var id int64
		for _, text := range texts {
			if id == 0 {
				q.Each(ctx, text, args, []any{&id}, func() {})
			}
		}
		if id == 0 && q.Err == nil {
			return history.ErrNothing
		}
		c.keyframe, err = c.begin(ctx, q, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// inputBytes is about the length of an encoded Input.
const inputBytes = 24

// cursor reads the groups of one run.
type cursor struct {
	reader     *Reader
	decoder    *tape.Decoder
	keyframe   *sources.Keyframe // is returned first; nil: it was returned
	run, group int64
	position   int64  // bytes of the group that were read
	last       uint64 // the Seq of the last Input that was returned
	thin       uint64 // of the group, see package sqlite
}

// begin reads the keyframe of a group.
func (c *cursor) begin(ctx context.Context, q *Query, group int64) (*sources.Keyframe, error) {
	var body []byte
	q.Each(ctx, "select run, thin, body from gop where id = ?", []any{group}, []any{&c.run, (*Unsigned)(&c.thin), &body}, func() {})
	raw := q.unpacked(body)
	if q.Err != nil {
		return nil, q.Err
	}
	k, err := c.decoder.Keyframe(raw)
	if err != nil {
		return nil, err
	}
	c.group, c.position, c.last = group, 0, k.Seq
	return k, nil
}

// Next returns the next Inputs, or a keyframe, see history.Cursor.
func (c *cursor) Next(ctx context.Context) (p history.Piece, err error) {
	p.Keyframe, c.keyframe = c.keyframe, nil
	for err == nil && p.Empty() {
		more := false
		err = c.reader.Ask(ctx, func(q *Query) (err error) {
			newest := false
			if err = c.unchanged(ctx, q); err == nil {
				p.Inputs, newest, err = c.inputs(ctx, q)
			}
			if next := int64(0); err == nil && (newest || p.Empty()) {
				q.Each(ctx, "select coalesce(min(id), 0) from gop where run = ? and id > ?", []any{c.run, c.group}, []any{&next}, func() {})
				p.End = next == 0
				if err = q.Err; err == nil && !p.End && p.Empty() {
					more, err = true, c.nextGroup(ctx, q, next, &p)
				}
			}
			return err
		})
		if !more {
			break
		}
	}
	p.Run, p.Thin = c.run, c.thin > 0
	return p, err
}

// nextGroup moves to the next group of the run.
func (c *cursor) nextGroup(ctx context.Context, q *Query, next int64, p *history.Piece) error {
	end, thin := c.last, c.thin > 0
	if thin {
		end = c.thin - 1
	}
	k, err := c.begin(ctx, q, next)
	if err != nil {
		return err
	}
	if p.Hole = k.Seq != end; p.Hole || thin || c.thin > 0 {
		p.Keyframe = k
	}
	return nil
}

// unchanged returns an error if the group was dropped after its first part was read.
func (c *cursor) unchanged(ctx context.Context, q *Query) error {
	found := false
	q.Each(ctx, "select thin from gop where id = ?", []any{c.group}, []any{(*Unsigned)(&c.thin)}, func() { found = true })
	if q.Err == nil && !found {
		return history.ErrDropped
	}
	return q.Err
}

// inputs returns the next Inputs of the group; none if no more are written yet. newest reports whether they are all
// that is written of the group.
func (c *cursor) inputs(ctx context.Context, q *Query) (inputs []sources.Input, newest bool, err error) {
	piece, newest, err := c.piece(ctx, q)
	if err != nil || len(piece) == 0 {
		return nil, newest, err
	}
	c.position += int64(len(piece))
	inputs = make([]sources.Input, 0, len(piece)/inputBytes)
	err = c.decoder.Inputs(piece, func(in *sources.Input) bool {
		inputs = append(inputs, *in)
		c.last = in.Seq
		return true
	})
	return inputs, newest, err
}

// piece returns the next bytes of the group, see inputs.
func (c *cursor) piece(ctx context.Context, q *Query) (piece []byte, newest bool, err error) {
	first := int64(-1)
	var body []byte
	q.Each(ctx, "select first, body from chunk where gop = ? and first <= ? and first + size > ? order by first desc limit 1",
		[]any{c.group, c.position, c.position}, []any{&first, &body}, func() {})
	if first >= 0 && q.Err == nil {
		raw := q.unpacked(body)
		if q.Err == nil && int64(len(raw)) <= c.position-first {
			q.Err = Damage("a chunk")
		}
		if q.Err != nil {
			return nil, false, q.Err
		}
		return raw[c.position-first:], false, nil
	}
	q.Each(ctx, "select body from tail where gop = ? and first >= ? order by first", []any{c.group, c.position}, []any{&body}, func() { piece = append(piece, body...) })
	return piece, true, q.Err
}
