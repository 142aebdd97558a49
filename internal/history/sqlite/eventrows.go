package sqlite

import (
	"encoding/binary"
	"math"
	"time"

	"coordtop/internal/history/tables"
	"coordtop/sources"
)

// In a file of a version before 6 an event has columns for the fields that are searched, and a body. The first byte of
// the body is its version; the other fields follow in the order of the function fields.
const eventVersion = 1

// fields calls number or text for each field of an event that is in the body.
func fields(e *sources.Event, number func(*uint64), text func(*string)) {
	byteOf := func(b *uint8) { n := uint64(*b); number(&n); *b = uint8(n) }
	length := func(d *time.Duration) {
		n := uint64(*d<<1) ^ uint64(*d>>63) // zigzag
		number(&n)
		*d = time.Duration(n>>1) ^ -time.Duration(n&1)
	}
	owner := func(o *sources.OwnerRef) { text(&o.ID); text(&o.Label); number(&o.Fence) }
	length(&e.Mono)
	byteOf((*uint8)(&e.Kind))
	byteOf((*uint8)(&e.RefKind))
	byteOf((*uint8)(&e.Cause))
	byteOf((*uint8)(&e.How))
	text(&e.Alias)
	byteOf((*uint8)(&e.AliasHow))
	owner(&e.Owner)
	owner(&e.Previous)
	owner(&e.Last)
	loss := uint64(0)
	if e.Loss {
		loss = 1
	}
	number(&loss)
	e.Loss = loss != 0
	for _, d := range []*time.Duration{&e.LeaseLeft, &e.Gap.Min, &e.Gap.Max, &e.Held.Min, &e.Held.Max} {
		length(d)
	}
	text(&e.Scope)
	text(&e.Detail)
	if e.Ref.Name == "" { // otherwise the lane has it
		text(&e.Ref.Source)
		text(&e.Ref.Space)
	}
}

// more does the same for the fields after those, which are written only if one is set: the counts, LastSeen if it is
// not Last, and the pauses between polls.
func more(e *sources.Event, number func(*uint64), text func(*string)) {
	for _, c := range []*sources.Counts{&e.Was, &e.Now} {
		number(&c.Taken)
		number(&c.Limit)
		number(&c.Waiting)
	}
	text(&e.LastSeen.ID)
	text(&e.LastSeen.Label)
	number(&e.LastSeen.Fence)
	for _, d := range []*time.Duration{&e.Gap.Every, &e.Held.Every} {
		n := uint64(*d)
		number(&n)
		*d = time.Duration(n)
	}
}

// decodeEvent sets the other fields of e, which has its Seq, At and Ref.
func decodeEvent(e *sources.Event, b []byte) error {
	bad := len(b) == 0 || b[0] != eventVersion
	if bad {
		return tables.Damage("an event")
	}
	b = b[1:]
	next := func() uint64 {
		n, used := binary.Uvarint(b)
		if used <= 0 {
			bad, b = true, nil
			return 0
		}
		b = b[used:]
		return n
	}
	if after := next(); after > 0 {
		e.After = e.At.Add(-time.Duration(min(after, math.MaxInt64)))
	}
	number := func(n *uint64) { *n = next() }
	text := func(s *string) {
		n := next()
		if n > uint64(len(b)) {
			bad, n = true, 0
		}
		*s, b = string(b[:n]), b[n:]
	}
	fields(e, number, text)
	if e.LastSeen = e.Last; len(b) > 0 {
		more(e, number, text)
	}
	if bad || e.Kind > sources.EventCountChanged || e.RefKind > sources.KindSemaphore || e.Cause > sources.CauseSession || max(e.How, e.AliasHow) > sources.Ours {
		return tables.Damage("an event")
	}
	return nil
}

// eventOf returns an event of a lane for decodeEvent; 0: of no lane.
func eventOf(lane int64) (e sources.Event) {
	if lane != 0 {
		e.Ref.Name = "of the lane"
	}
	return e
}
