package redissource

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"coordtop/coord/rediscoord"
	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

// key is the state of one watched key.
type key struct {
	name     string
	rule     rule
	shown    facts              // facts of the row that was last sent
	whole    *sources.Primitive // that row, for renewals; nil if there are too many keys
	checksum uint64             // of the reading from which shown was made; 0: the next reading is interpreted again
	sent     time.Time          // when the last answered look was sent; zero if none
	lease    time.Duration      // largest remaining time seen in this ownership
	ends     span               // end of the lease, narrowed by every look; zero: no end is known
	free     time.Time          // of the first look without an owner; zero if it is owned

	pushed  bool      // writes to it are pushed
	byKey   bool      // it is tracked by itself, not by a prefix
	armed   bool      // the server pushes its next change, if byKey
	futile  bool      // it is not tracked by itself, because pushes came without a change
	changed time.Time // time of the last read that showed a change
	noticed time.Time // time of the last read because of a push
	stale   bool      // not read on this link
	denied  bool      // we have no right to read it
	doubted bool      // read again because a push may still arrive
	pending bool      // a push about it was received after the last read
	proved  time.Time // an earlier link missed no change of it until this time

	lookAt time.Time // end of the lease, at which the key is read
	place  int       // in deadlines; -1 if not there
}

func newKey(name string, r rule) *key { return &key{name: name, rule: r, place: -1} }

// never is a ForgetAfter for keys that stay, although keys exist only while they are owned.
const never = time.Duration(math.MaxInt64)

func (k *key) forgetAfter(forget time.Duration) time.Duration {
	if k.rule.exact || k.rule.expected {
		return never
	}
	return forget
}

// lock returns the lock that a reading shows.
func (k *key) lock(o *Options, r *reading) lockformat.Lock {
	switch r.shape {
	case text, table, other:
		if r.shape == other && o.Client.Refusals != nil {
			if note := unreadable(o.Client.Refusals, r.typ); note != "" {
				_, word := lockformat.Word(k.name)
				return lockformat.Lock{Kind: cmp.Or(k.rule.kind, word), Note: note}
			}
		}
		return lockformat.Read(k.name, r.content(), r.beside, lockformat.Options{
			Kind: k.rule.kind, Legible: o.Legible,
			Counted: k.shown.kind == sources.KindSemaphore && k.shown.ownersHow == sources.Told,
		})
	}
	l := lockformat.Lock{Kind: k.rule.kind}
	if k.shown.all != 0 { // as last read
		l.Kind, l.Program, l.Likely = k.shown.kind, k.shown.library, k.shown.libraryHow == sources.Inferred
	} else if l.Kind == sources.KindUnknown {
		_, l.Kind = lockformat.Word(k.name)
	}
	switch r.shape {
	case denied:
		l.Note = "no right to read it: give the user " + cmp.Or(r.lacks, allRights) + " on this key"
	case moved:
		l.Note = "another node of the cluster has it"
	}
	return l
}

const noTableRight = "it is no string, and the right to read it is missing"

// unreadable returns a sentence with the rights that are missing for reading a key of a type other than string, or ""
// if none is.
func unreadable(refusals *rediscoord.Refusals, typ string) string {
	needs := []string{"object|encoding", "hlen", "hgetall"}
	switch {
	case refusals.Refused("type") != nil: // in that case the others were not tried
		return noTableRight + ": give the user +type +object|encoding, and +hlen +hgetall for a hash or +zcard +zrange for a sorted set"
	case typ == "zset":
		needs = []string{"object|encoding", "zcard", "zrange"}
	case typ != "hash":
		return ""
	}
	needs = slices.DeleteFunc(needs, func(right string) bool { return refusals.Refused(right) == nil })
	if len(needs) == 0 {
		return ""
	}
	return noTableRight + ": give the user +" + strings.Join(needs, " +")
}

// primitive returns the row that a reading shows, without the lease.
func (k *key) primitive(o *Options, space string, r *reading) *sources.Primitive {
	if k.whole != nil && k.unchanged(r) {
		p := *k.whole
		p.At, p.Owners = r.got, slices.Clone(p.Owners)
		if p.Queue.How != sources.Unknown {
			p.Queue.At = r.got
		}
		return &p
	}
	l := k.lock(o, r)
	if l.Queue.How != sources.Unknown { // changes of the queue are not pushed
		l.Queue.At = r.got
	}
	p := &sources.Primitive{
		Ref:  sources.Ref{Source: o.Name, Space: space, Name: k.name},
		Kind: l.Kind, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told,
		Owners: l.Owners, Queue: l.Queue, Note: l.Note, At: r.got,
		Labels: o.Labels, Expected: k.rule.expected, ForgetAfter: k.forgetAfter(o.Forget),
	}
	for i := range p.Owners {
		p.Owners[i].NoExpiry = r.ttl == noTTL && !l.OwnEnds
		p.Taken += p.Owners[i].Permits
	}
	switch {
	case l.Note != "":
		p.OwnersHow, p.LimitHow, p.Limit = sources.Unknown, sources.Unknown, 0
	case l.Limit > 0:
		p.Limit = l.Limit
	case l.Mode == sources.Shared:
		p.Limit = sources.NoLimit
	case l.Kind == sources.KindSemaphore:
		p.LimitHow, p.Limit = sources.Unknown, 0
	}
	if l.Program != "" {
		how := sources.Told
		if l.Likely {
			how = sources.Inferred
		}
		p.Labels = slices.Clip(o.Labels)
		if l.Format != nil && l.Format.NoTTL {
			p.Labels = append(p.Labels, sources.NoTTLLabel())
		}
		p.Labels = append(p.Labels, sources.FormatLabel(l.Program, how))
	}
	if k.rule.guessed && p.LimitHow == sources.Told && l.Guess {
		p.LimitHow = sources.Inferred
	}
	return p
}

// differs reports whether a look that shows f differs from what was sent, in the row or the lease.
func (k *key) differs(f *facts, r *reading) bool {
	return k.shown.all != f.all || k.leaseChanged(r)
}

// update applies a look that shows f. It reports whether the row must be sent.
func (k *key) update(f *facts, r *reading) bool {
	if k.shown.all == 0 || k.shown.ids != f.ids {
		k.lease = 0
	}
	fresh, was := k.stale || k.differs(f, r), k.ends
	k.takeLease(r, fresh)
	if was.length() > k.ends.length()+cutNoise { // an earlier answer was late, and now the end is known more exactly
		fresh = true
	}
	k.sent, k.stale, k.doubted, k.pending, k.denied = r.sent, false, false, false, r.shape == denied
	if f.owners > 0 || f.ownersHow == sources.Unknown {
		k.free = time.Time{}
	} else if k.free.IsZero() {
		k.free = r.got
	}
	if k.checksum = r.checksum(); fresh {
		k.shown = *f
	}
	return fresh
}

// handOver adds the lease to p, the row that update accepted. If keeps is set, there is room to keep p.
func (k *key) handOver(p *sources.Primitive, keeps bool) {
	if !k.ends.at.IsZero() {
		for i := range p.Owners {
			p.Owners[i].Lease = k.lease
			p.Owners[i].Expires = sources.StampBetween(k.ends.after, k.ends.at, sources.Told)
		}
	}
	p.OnWallClock()
	if k.whole = nil; keeps {
		k.whole = p
	}
}

// leaseChanged reports whether r shows a new end of the lease.
func (k *key) leaseChanged(r *reading) bool {
	had, has := !k.ends.at.IsZero(), r.leased()
	return had != has || had && (r.expiry().laterThan(k.ends) || k.ends.laterThan(r.expiry()))
}

// leased reports whether the key exists and has a TTL.
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

// shorter reports whether r proves that the lease is shorter than before: it ends sooner, or the last renewal was for
// less time. It tolerates a drift between the two clocks.
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

// cutNoise is by how much an unchanged lease may seem to end sooner.
const cutNoise = 50 * time.Millisecond

// shape is the kind of value that was found in a key.
type shape uint8

const (
	missing shape = iota
	text          // a string
	table         // a hash or a sorted set small enough to be read
	other         // anything else; see reading.typ
	denied        // we have no right to read it
	moved         // the key is on another node of a cluster
)

// reading is the result of one look at one key. It was true at some instant between sent and got.
type reading struct {
	shape     shape
	sent, got time.Time
	ttl       time.Duration // remaining time; noTTL if there is no end
	head      []byte        // of a string
	size      int           // of the whole string
	lacks     string        // for a denied key, the missing rights; "" for all
	typ       string        // for another type, Redis's name of that
	fields    map[string]string
	members   []lockformat.Member
	beside    []lockformat.Content // of the companions; nil: no companions, or they were not read
}

// content returns the reading in the form of package lockformat.
func (r *reading) content() *lockformat.Content {
	c := &lockformat.Content{Type: lockformat.Type(r.typ), Leased: r.leased(), Fields: r.fields, Members: r.members}
	switch c.Size = len(r.fields) + len(r.members); r.shape {
	case text:
		c.Type, c.Text, c.Size = lockformat.String, r.head, r.size
	case other:
		c.Size = -1
	}
	return c
}

const noTTL time.Duration = -1

// tick is the resolution of PTTL, because the server cuts off fractions of a millisecond.
const tick = time.Millisecond

// expiry returns the span in which the lease ends, on our clock.
func (r *reading) expiry() span {
	return span{r.sent.Add(r.ttl - tick), r.got.Add(r.ttl + tick)}
}

// span is the stretch of time (after, at].
type span struct{ after, at time.Time }

// doubt bounds the distance between two spans of the same lease.
const doubt = 2 * time.Millisecond

func (s span) length() time.Duration { return s.at.Sub(s.after) }

// laterThan reports whether s is surely later than old.
func (s span) laterThan(old span) bool { return s.after.Sub(old.at) > doubt }

// narrowed returns the intersection of s and t, two spans of the same instant, or t if they do not overlap.
func (s span) narrowed(t span) span {
	s = span{sources.Later(s.after, t.after), sources.Earlier(s.at, t.at)}
	if !s.at.After(s.after) {
		return t
	}
	return s
}
