package sources

import "slices"

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
