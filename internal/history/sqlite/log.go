package sqlite

import (
	"context"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

var _ history.Log = (*Store)(nil)

// Open returns a Cursor at the last keyframe before an instant: see history.Log.
func (s *Store) Open(ctx context.Context, at time.Time) (history.Cursor, error) {
	return s.openAt(ctx, "select id from gop where start <= ?1 and run = (select max(id) from run where began <= ?1 and last >= ?1) order by start desc, id desc limit 1",
		"select id from gop where start > ? order by start, id limit 1", at.UnixNano())
}

// OpenRun does so in one run: see history.Log.
func (s *Store) OpenRun(ctx context.Context, run int64, at time.Time) (history.Cursor, error) {
	return s.openAt(ctx, "select id from gop where start <= ? and run = ? order by start desc, id desc limit 1",
		"select id from gop where start > ? and run = ? order by start, id limit 1", at.UnixNano(), run)
}

// openAt returns a Cursor at the group that before finds, else at the one that after finds.
func (s *Store) openAt(ctx context.Context, before, after string, args ...any) (history.Cursor, error) {
	c := &cursor{store: s, decoder: sources.NewDecoder()}
	err := s.ask(ctx, func(q *query) error {
		var id int64
		if q.each(before, args, []any{&id}, func() {}); id == 0 {
			q.each(after, args, []any{&id}, func() {})
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
	thin      uint64 // of the group: see the package comment
	restarted bool
	missing   bool
}

func (c *cursor) Run() int64 { return c.run }

func (c *cursor) Keyframe() *sources.Keyframe { return c.keyframe }

func (c *cursor) Restarted() bool { return c.restarted }

func (c *cursor) Missing() bool { return c.missing }

func (c *cursor) Thin() bool { return c.thin > 0 }

// begin reads the keyframe of a group.
func (c *cursor) begin(q *query, gop int64) error {
	var body []byte
	var thin uint64
	q.each("select run, thin, body from gop where id = ?", []any{gop}, []any{&c.run, (*unsigned)(&thin), &body}, func() {})
	if q.err != nil {
		return q.err
	}
	raw, err := unpacked(body)
	if err != nil {
		return damage("a keyframe")
	}
	k, err := c.decoder.Keyframe(raw)
	if err != nil {
		return err
	}
	end := c.last
	if c.thin > 0 {
		end = c.thin - 1
	}
	c.missing = c.missing || c.gop != 0 && k.Seq() != end
	c.restarted = c.restarted || c.missing || c.gop != 0 && (c.thin > 0 || thin > 0)
	c.gop, c.thin, c.position, c.last = gop, thin, 0, k.Seq()
	if c.restarted || c.keyframe == nil {
		c.keyframe = k
	}
	return nil
}

// Next returns the next Inputs: see history.Cursor.
func (c *cursor) Next(ctx context.Context) (inputs []sources.Input, err error) {
	c.restarted, c.missing = false, false
	err = c.store.ask(ctx, func(q *query) error {
		if err := c.unchanged(q); err != nil {
			return err
		}
		for {
			if inputs, err = c.inputs(q); len(inputs) > 0 || err != nil {
				return err
			}
			var next int64
			q.each("select coalesce(min(id), 0) from gop where run = ? and id > ?", []any{c.run, c.gop}, []any{&next}, func() {})
			if next == 0 || q.err != nil {
				return q.err
			}
			if err := c.begin(q, next); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return inputs, nil
}

// unchanged fails where the group is not what was read of it. One that is thin may have grown.
func (c *cursor) unchanged(q *query) error {
	thin, was := uint64(0), c.thin
	found := false
	q.each("select thin from gop where id = ?", []any{c.gop}, []any{(*unsigned)(&thin)}, func() { found = true })
	if c.thin = thin; q.err == nil && (!found || (was > 0) != (thin > 0)) {
		return history.ErrThinned
	}
	return q.err
}

// inputs are the next of the group; none: there are none by now.
func (c *cursor) inputs(q *query) (inputs []sources.Input, err error) {
	piece, err := c.piece(q)
	if err != nil || len(piece) == 0 {
		return nil, err
	}
	c.position += int64(len(piece))
	inputs = make([]sources.Input, 0, len(piece)/inputBytes)
	err = c.decoder.Inputs(piece, func(in *sources.Input) bool {
		inputs = append(inputs, *in)
		c.last = in.Seq
		return true
	})
	return inputs, err
}

// piece is the next bytes of the group; none: there are none by now.
func (c *cursor) piece(q *query) (piece []byte, err error) {
	first := int64(-1)
	var body []byte
	q.each("select first, body from chunk where gop = ? and first <= ? and first + size > ? order by first desc limit 1",
		[]any{c.gop, c.position, c.position}, []any{&first, &body}, func() {})
	if first >= 0 && q.err == nil {
		raw, err := unpacked(body)
		if err != nil || int64(len(raw)) <= c.position-first {
			return nil, damage("a chunk")
		}
		return raw[c.position-first:], nil
	}
	q.each("select body from tail where gop = ? and first >= ? order by first", []any{c.gop, c.position}, []any{&body}, func() { piece = append(piece, body...) })
	return piece, q.err
}
