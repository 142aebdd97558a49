package redissource

import (
	"math"
	"slices"
	"time"

	"coordtop/sources"
)

// key is what is known of one name.
type key struct {
	name  string
	rule  rule
	shown *sources.Primitive // as last handed over; nil: never
	sent  time.Time          // sending of the last look that was answered; zero: never
	lease time.Duration      // largest remainder seen in this ownership
	ends  span               // of the lease, narrowed by every look; zero: it has none
	free  time.Time          // when it was first seen without an owner; zero: somebody owns it

	pushed  bool      // writes to it are pushed
	byKey   bool      // because it is tracked by itself
	armed   bool      // its next change will be
	futile  bool      // it is not tracked by itself, because pushes came without a change
	changed time.Time // when a change of it was last read
	noticed time.Time // when it was last read because of a push
	stale   bool      // not looked at in this link
	denied  bool      // we have no right to read it
	doubted bool      // looked at again because a push may be on its way
	pending bool      // a push about it was received, and it was not read since
	proved  time.Time // up to when it is proved that an earlier link missed no change of it

	lookAt time.Time // when the lease is over and has to be looked at
	place  int       // in deadlines; -1: not there
}

func newKey(name string, r rule) *key { return &key{name: name, rule: r, place: -1} }

// never is a ForgetAfter for keys that stay: they have no existence of their own either.
const never = time.Duration(math.MaxInt64)

func (k *key) forgetAfter(forget time.Duration) time.Duration {
	if k.rule.exact || k.rule.expected {
		return never
	}
	return forget
}

// primitive is what a reading shows, without the lease.
func (k *key) primitive(o *Options, space string, r *reading) *sources.Primitive {
	kind := k.rule.kind
	if kind == sources.KindUnknown {
		kind = kindOf(k.name)
	}
	list, mode, note := owners(r, kind, o.Legible)
	if k.rule.guessed && r.shape == text && isNumberOrTime(r.head) {
		list, note = nil, "a number or a time: it does not tell who owns it"
	}
	p := &sources.Primitive{
		Ref:  sources.Ref{Source: o.Name, Space: space, Name: k.name},
		Kind: kind, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told,
		Owners: list, Taken: uint64(len(list)), Note: note, At: r.got,
		Labels: o.Labels, Expected: k.rule.expected, ForgetAfter: k.forgetAfter(o.Forget),
	}
	switch {
	case note != "":
		p.OwnersHow, p.LimitHow, p.Limit = sources.Unknown, sources.Unknown, 0
	case mode == sources.Shared:
		p.Limit = sources.NoLimit
	case kind == sources.KindSemaphore:
		p.LimitHow, p.Limit = sources.Unknown, 0
	}
	if k.rule.guessed && p.LimitHow == sources.Told && !r.ofLibrary() {
		p.LimitHow = sources.Inferred
	}
	return p
}

// differs reports whether a look shows something new.
func (k *key) differs(p *sources.Primitive, r *reading) bool {
	return k.shown == nil || !sameFacts(k.shown, p) || k.leaseChanged(r)
}

// update takes a look in, and completes p with the lease. It returns false if p need not
// be handed over.
func (k *key) update(p *sources.Primitive, r *reading) bool {
	if k.shown == nil || !sameIDs(k.shown.Owners, p.Owners) {
		k.lease = 0
	}
	fresh, was := k.stale || k.differs(p, r), k.ends
	k.takeLease(r, fresh)
	if was.length() > k.ends.length()+cutNoise { // an answer was late, and now the end is known better
		fresh = true
	}
	k.sent, k.stale, k.doubted, k.pending, k.denied = r.sent, false, false, false, r.shape == denied
	if len(p.Owners) > 0 || p.Note != "" {
		k.free = time.Time{}
	} else if k.free.IsZero() {
		k.free = r.got
	}
	if !fresh {
		return false
	}
	k.stampOwners(p)
	p.OnWallClock()
	k.shown = p
	return true
}

// leaseChanged reports whether r shows another end of the lease than what was known.
func (k *key) leaseChanged(r *reading) bool {
	had, has := !k.ends.at.IsZero(), r.leased()
	if had != has {
		return true
	}
	return had && (r.expiry().laterThan(k.ends) || k.ends.laterThan(r.expiry()))
}

// leased reports whether the key exists and ends by itself.
func (r *reading) leased() bool { return (r.shape == text || r.shape == table) && r.ttl >= 0 }

func (k *key) takeLease(r *reading, fresh bool) {
	if !r.leased() {
		k.ends, k.lease = span{}, 0
		return
	}
	if k.shorter(r) {
		k.lease = 0
	}
	k.lease = max(k.lease, r.ttl)
	if fresh {
		k.ends = r.expiry()
	} else {
		k.ends = k.ends.narrowed(r.expiry())
	}
}

// shorter reports whether r proves that the lease is shorter than it was: it ends sooner, or
// it was renewed since the last look for less than it had. Two clocks part a little meanwhile.
func (k *key) shorter(r *reading) bool {
	if k.ends.at.IsZero() {
		return true
	}
	since := r.got.Sub(k.sent)
	noise := cutNoise + since/1000
	if k.ends.after.Sub(r.expiry().at) > noise {
		return true
	}
	return r.expiry().laterThan(k.ends) && r.ttl+since+noise < k.lease
}

// cutNoise is by how much a lease that nobody changed may seem to end sooner.
const cutNoise = 50 * time.Millisecond

func (k *key) stampOwners(p *sources.Primitive) {
	for i := range p.Owners {
		o := &p.Owners[i]
		if k.ends.at.IsZero() {
			o.NoExpiry = true
			continue
		}
		o.Lease = k.lease
		o.Expires = sources.StampBetween(k.ends.after, k.ends.at, sources.Told)
	}
}

// sameFacts reports whether a and b tell the same of everything but the lease.
func sameFacts(a, b *sources.Primitive) bool {
	return a.Note == b.Note && a.OwnersHow == b.OwnersHow && a.Limit == b.Limit &&
		slices.EqualFunc(a.Owners, b.Owners, func(x, y sources.Owner) bool {
			return x.ID == y.ID && x.Label == y.Label && x.Guard == y.Guard && x.Mode == y.Mode &&
				x.Data.Sum == y.Data.Sum && x.Data.Len == y.Data.Len && slices.Equal(x.Attrs, y.Attrs)
		})
}

func sameIDs(a, b []sources.Owner) bool {
	return slices.EqualFunc(a, b, func(x, y sources.Owner) bool { return x.ID == y.ID })
}
