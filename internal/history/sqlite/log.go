package sqlite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

var _ history.Log = (*Store)(nil)

// Open returns a Cursor at the last keyframe before an instant: see history.Log.
func (s *Store) Open(ctx context.Context, at time.Time) (history.Cursor, error) {
	c := &cursor{store: s, decoder: sources.NewDecoder()}
	err := s.ask(ctx, func(q *query) error {
		var id int64
		q.each("select id from gop where start <= ?1 and run = (select max(id) from run where began <= ?1 and last >= ?1) order by start desc, id desc limit 1",
			[]any{at.UnixNano()}, []any{&id}, func() {})
		if id == 0 {
			q.each("select id from gop where start > ? order by start, id limit 1", []any{at.UnixNano()}, []any{&id}, func() {})
		}
		if id == 0 && q.err == nil {
			return history.ErrNothing
		}
		return c.begin(q, id)
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// inputBytes is about how long an encoded Input is.
const inputBytes = 24

// cursor reads the groups of one run.
type cursor struct {
	store     *Store
	decoder   *sources.Decoder
	keyframe  *sources.Keyframe
	run, gop  int64
	position  int64  // how many bytes of the group were read
	last      uint64 // the Seq of the last Input that was returned
	restarted bool
}

func (c *cursor) Run() int64 { return c.run }

func (c *cursor) Keyframe() *sources.Keyframe { return c.keyframe }

func (c *cursor) Restarted() bool { return c.restarted }

// begin reads the keyframe of a group.
func (c *cursor) begin(q *query, gop int64) error {
	var body []byte
	q.each("select run, body from gop where id = ?", []any{gop}, []any{&c.run, &body}, func() {})
	if q.err != nil {
		return q.err
	}
	raw, err := unpacked(body)
	if err != nil {
		return fmt.Errorf("a keyframe: %w: %w", history.ErrDamaged, err)
	}
	k, err := c.decoder.Keyframe(raw)
	if err != nil {
		return err
	}
	c.restarted = c.gop != 0 && k.Seq() != c.last
	c.gop, c.position, c.last = gop, 0, k.Seq()
	if c.restarted || c.keyframe == nil {
		c.keyframe = k
	}
	return nil
}

// Next returns the next Inputs: see history.Cursor.
func (c *cursor) Next(ctx context.Context) (inputs []sources.Input, err error) {
	c.restarted = false
	err = c.store.ask(ctx, func(q *query) error {
		for len(inputs) == 0 {
			piece, err := c.piece(q)
			if err != nil {
				return err
			}
			if len(piece) > 0 {
				c.position += int64(len(piece))
				inputs = slices.Grow(inputs, len(piece)/inputBytes)
				err := c.decoder.Inputs(piece, func(in *sources.Input) bool {
					inputs = append(inputs, *in)
					return true
				})
				if err != nil {
					return err
				}
				continue
			}
			var next int64
			q.each("select coalesce(min(id), 0) from gop where run = ? and id > ?", []any{c.run, c.gop}, []any{&next}, func() {})
			if next == 0 || q.err != nil {
				return q.err
			}
			hole := c.restarted
			if err := c.begin(q, next); err != nil {
				return err
			}
			c.restarted = c.restarted || hole
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n := len(inputs); n > 0 {
		c.last = inputs[n-1].Seq
	}
	return inputs, nil
}

// piece is the next bytes of the group; none: there are none by now.
func (c *cursor) piece(q *query) (piece []byte, err error) {
	var first int64
	var body []byte
	q.each("select first, body from chunk where gop = ? and first <= ? and first + size > ? order by first desc limit 1",
		[]any{c.gop, c.position, c.position}, []any{&first, &body}, func() {})
	if body != nil && q.err == nil {
		raw, err := unpacked(body)
		if err != nil || int64(len(raw)) <= c.position-first {
			return nil, fmt.Errorf("a chunk: %w", history.ErrDamaged)
		}
		return raw[c.position-first:], nil
	}
	q.each("select body from tail where gop = ? and first >= ? order by first", []any{c.gop, c.position}, []any{&body}, func() { piece = append(piece, body...) })
	return piece, q.err
}
