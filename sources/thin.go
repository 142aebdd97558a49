package sources

import (
	"reflect"
	"slices"
	"time"
)

// thin returns what the Keyframe of a Thinner has of k, which may be nil.
func (k *Keyframe) thin() *Keyframe {
	if k == nil {
		return nil
	}
	is, rows := *k, map[*Row]*Row{nil: nil} // what the State shares with the model, it shares again
	thin := func(list []*Row) []*Row {
		list = slices.Clone(list)
		for i, row := range list {
			if _, done := rows[row]; !done {
				own := *row
				own.Primitive, own.LowestLease = row.Primitive.thin(), 0
				rows[row] = &own
			}
			list[i] = rows[row]
		}
		return list
	}
	is.rows, is.resume = thin(k.rows), k.resume.thin()
	if k.published != nil {
		state := *k.published
		state.Rows = thin(state.Rows)
		is.published = &state
	}
	is.known, is.queued = cloneSlots(k.known), cloneSlots(k.queued)
	for _, bySlot := range []map[int]*Primitive{is.known, is.queued} {
		for slot, p := range bySlot {
			bySlot[slot] = p.thin()
		}
	}
	return &is
}

// thin returns p without what moves with each renewal, but for the time of the look.
func (p *Primitive) thin() *Primitive {
	if !slices.ContainsFunc(p.Owners, func(o Owner) bool { return o.Expires != (Stamp{}) || o.Renewed != (Stamp{}) || o.Rhythm != (Rhythm{}) }) {
		return p
	}
	is := *p
	is.Queue.At, is.Owners = time.Time{}, slices.Clone(p.Owners)
	for i := range is.Owners {
		o := &is.Owners[i]
		o.Expires, o.Renewed, o.Rhythm = Stamp{}, Stamp{}, Rhythm{}
	}
	return &is
}

// sameButLease reports whether all that a Hub knows of a row is the same at two looks, but for what
// moves with each renewal. It compares each field, so that a new one is never taken
// for a part of the lease.
func (r *Row) sameButLease(s *Row) bool {
	if r.Primitive == nil || !sameLook(r.Primitive, s.Primitive) {
		return false
	}
	a, b := *r, *s
	a.Primitive, b.Primitive, a.Rev, a.LowestLease = nil, nil, b.Rev, b.LowestLease
	return reflect.DeepEqual(&a, &b)
}

// sameLook reports whether two looks show the same, but for what moves with each renewal and for when they were. It
// allocates nothing.
func sameLook(p, q *Primitive) bool {
	return p.Ref == q.Ref && p.Kind == q.Kind && p.LimitHow == q.LimitHow && p.OwnersHow == q.OwnersHow && p.AliasHow == q.AliasHow &&
		p.Ephemeral == q.Ephemeral && p.Expected == q.Expected && p.Absent == q.Absent && p.NoSpace == q.NoSpace &&
		p.Limit == q.Limit && p.Taken == q.Taken && p.Data == q.Data && p.Incarnation == q.Incarnation && p.Note == q.Note &&
		p.Alias == q.Alias && p.ForgetAfter == q.ForgetAfter &&
		p.Queue.How == q.Queue.How && p.Queue.CandidatesHow == q.Queue.CandidatesHow && p.Queue.Len == q.Queue.Len &&
		slices.Equal(p.Labels, q.Labels) && slices.EqualFunc(p.Owners, q.Owners, sameOwner) &&
		slices.EqualFunc(p.Queue.Waiters, q.Queue.Waiters, sameWaiter) && slices.EqualFunc(p.Candidates, q.Candidates, sameWaiter)
}

// sameOwner reports whether two looks show the same of an owner, but for its lease.
func sameOwner(a, b Owner) bool {
	return a.ID == b.ID && a.Session == b.Session && a.Label == b.Label && a.Permits == b.Permits && a.Fence == b.Fence &&
		a.Mode == b.Mode && a.Idle == b.Idle && a.NoExpiry == b.NoExpiry && a.Serial == b.Serial && a.Program == b.Program &&
		a.Lease == b.Lease && a.Proof == b.Proof && a.Since == b.Since && a.Data == b.Data && a.Guard == b.Guard && slices.Equal(a.Attrs, b.Attrs)
}

func sameWaiter(a, b Waiter) bool {
	return a.ID == b.ID && a.Session == b.Session && a.Label == b.Label && a.Mode == b.Mode && a.Permits == b.Permits && a.Order == b.Order &&
		a.Turn == b.Turn && a.Since == b.Since && a.Timeout == b.Timeout && a.Data == b.Data && a.Guard == b.Guard && slices.Equal(a.Attrs, b.Attrs)
}

// sameButAlive reports whether nothing but up to when a scope answered is different.
func (sc *scope) sameButAlive(is *scope) bool {
	a := *sc
	a.Alive, a.answered, a.completeUntil = is.Alive, is.answered, is.completeUntil
	return reflect.DeepEqual(&a, is)
}
