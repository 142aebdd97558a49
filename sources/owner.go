package sources

import (
	"encoding/binary"
	"math"
	"regexp"
	"slices"
	"time"

	"coordtop/internal/ground/format"
)

// leaseKnown reports whether the end of the lease is known.
func leaseKnown(o *Owner) bool { return !o.NoExpiry && o.Expires.How != Unknown }

// leaseOver reports whether the lease may have ended by t: the end is somewhere in (After, At], so that it is possible
// as soon as After has passed.
func leaseOver(o *Owner, t time.Time) bool {
	switch {
	case !leaseKnown(o):
		return false
	case o.Expires.After().IsZero():
		return !t.Before(o.Expires.At)
	}
	return t.After(o.Expires.After())
}

// leasePast reports whether the lease was surely over by t.
func leasePast(o *Owner, t time.Time) bool {
	return leaseKnown(o) && !t.Before(o.Expires.At)
}

// leaseLeft returns the remaining time of the lease at t, or 0 if that is unknown or there is none.
func leaseLeft(o *Owner, t time.Time) time.Duration {
	if !leaseKnown(o) {
		return 0
	}
	return max(o.Expires.At.Sub(t), 0)
}

// Rhythm is the usual pause between two renewals of one owner, as far as we saw them. The zero Rhythm is unknown. The
// pause is in milliseconds, so that a Rhythm fits into the padding of an Owner.
type Rhythm struct {
	every [4]byte // milliseconds; not a uint32, which would be aligned and need more room
	seen  uint8
}

// millis returns the usual pause; 0: unknown.
func (r Rhythm) millis() uint32 { return binary.LittleEndian.Uint32(r.every[:]) }

// usually returns the rhythm with another pause.
func (r Rhythm) usually(millis uint32) Rhythm {
	binary.LittleEndian.PutUint32(r.every[:], millis)
	return r
}

// RhythmOf returns the Rhythm with this usual pause (0: unknown; at most 49 days) and this number of seen renewals,
// which is cut at 255.
func RhythmOf(every time.Duration, renewals int) Rhythm {
	r := Rhythm{seen: uint8(min(max(renewals, 0), 255))}
	return r.usually(uint32(min(max(every.Milliseconds(), 0), math.MaxUint32)))
}

// Every returns the usual pause between two renewals; 0: unknown.
func (r Rhythm) Every() time.Duration { return time.Duration(r.millis()) * time.Millisecond }

// Renewals returns the number of seen renewals, at most 255.
func (r Rhythm) Renewals() int { return int(r.seen) }

// RenewEvery returns the usual pause between two renewals of this owner; 0: unknown.
func (o *Owner) RenewEvery() time.Duration { return o.Rhythm.Every() }

// renewed returns the rhythm with one more pause. A single outlier, such as a missed renewal, changes the rhythm by at
// most a quarter.
func (r Rhythm) renewed(pause time.Duration) Rhythm {
	if r.seen < 255 {
		r.seen++
	}
	millis := int64(RhythmOf(pause, 0).millis())
	if usual := int64(r.millis()); usual > 0 && millis > 0 {
		millis = usual + (min(max(millis, usual/2), 2*usual)-usual)/4
	}
	if millis > 0 {
		r = r.usually(uint32(millis))
	}
	return r
}

// RenewEvery returns the usual pause between two renewals, of the owner that renews most often, or 0 if none is known.
func (r *Row) RenewEvery() time.Duration {
	var shortest time.Duration
	for i := range r.Owners {
		if every := r.Owners[i].RenewEvery(); every > 0 && (shortest == 0 || every < shortest) {
			shortest = every
		}
	}
	return shortest
}

// lastRenewed returns the last proof of the owner's life: its last renewal, else its take if we saw it.
func lastRenewed(o *Owner) (time.Time, bool) {
	if o.NoExpiry {
		return time.Time{}, false
	}
	if o.Renewed.How != Unknown {
		return o.Renewed.At, true
	}
	return o.Since.At, o.Since.How == Told || o.Since.How == Seen || o.Since.How == Ours
}

// Missed returns the number of this owner's renewals that are overdue at now, by its own rhythm. A renewal counts half
// a pause after it was due. It returns 0 if too few renewals were seen to know a rhythm.
func (o *Owner) Missed(now time.Time, t Thresholds) int {
	last, ok := lastRenewed(o)
	every := o.RenewEvery()
	if !ok || every <= 0 || int(o.Rhythm.seen) < t.LateSeen {
		return 0
	}
	return max(0, int((now.Sub(last)+every/2)/every)-1)
}

// lateAt returns the time at which the owner's renewal is late, if no renewal comes before: when the lease may be over,
// when little of it is left, or when renewals were missed and much of the lease is gone. Of the owners that were never
// seen to renew, only a leader is expected to renew. Zero means never.
func (o *Owner) lateAt(leads bool, t Thresholds) time.Time {
	if !leaseKnown(o) {
		return time.Time{}
	}
	at := o.Expires.Earliest()
	if o.Lease <= 0 || !leads && o.Rhythm.seen == 0 {
		return at
	}
	at = Earlier(at, o.Expires.At.Add(1-share(o.Lease, t.LateLeft))) // from then on, less is left
	if last, ok := lastRenewed(o); ok && o.RenewEvery() > 0 && int(o.Rhythm.seen) >= t.LateSeen {
		missed := last.Add(o.RenewEvery()*time.Duration(t.LateMissed) + o.RenewEvery()/2)
		at = Earlier(at, Later(missed, o.Expires.At.Add(1-share(o.Lease, t.LateWorn))))
	}
	return at
}

// share returns a part of a lease.
func share(lease time.Duration, part float64) time.Duration {
	return time.Duration(float64(lease) * part)
}

// late reports whether the renewal of one of the owners is late.
func (r *Row) late(now time.Time, t Thresholds) bool {
	at := r.LateAt(t)
	return !at.IsZero() && !now.Before(at)
}

// LateAt returns the instant from which the renewal of an owner is late or its lease may be over. It is zero if that
// never happens while the row stays unchanged. StatusAt reports an owner as late or silent from that instant on, unless
// the server is silent.
func (r *Row) LateAt(t Thresholds) time.Time {
	var first time.Time
	for i := range r.Owners {
		at := r.Owners[i].lateAt(r.Kind == KindElection, t)
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// sameLook reports whether two looks differ only in their times and in fields that each renewal changes, without
// allocating.
func sameLook(p, q *Primitive) bool {
	return p.Ref == q.Ref && p.Kind == q.Kind && p.LimitHow == q.LimitHow && p.OwnersHow == q.OwnersHow && p.AliasHow == q.AliasHow &&
		p.Ephemeral == q.Ephemeral && p.Expected == q.Expected && p.Absent == q.Absent && p.NoSpace == q.NoSpace &&
		p.Limit == q.Limit && p.Taken == q.Taken && p.Data == q.Data && p.Incarnation == q.Incarnation && p.Note == q.Note &&
		p.Alias == q.Alias && p.ForgetAfter == q.ForgetAfter &&
		p.Queue.How == q.Queue.How && p.Queue.CandidatesHow == q.Queue.CandidatesHow && p.Queue.Len == q.Queue.Len &&
		slices.Equal(p.Labels, q.Labels) && slices.EqualFunc(p.Owners, q.Owners, sameOwner) &&
		slices.EqualFunc(p.Queue.Waiters, q.Queue.Waiters, sameWaiter) && slices.EqualFunc(p.Candidates, q.Candidates, sameWaiter)
}

// sameOwner reports whether two looks at an owner differ only in its lease.
func sameOwner(a, b Owner) bool {
	return a.ID == b.ID && a.Session == b.Session && a.Label == b.Label && a.Permits == b.Permits && a.Fence == b.Fence &&
		a.Mode == b.Mode && a.Idle == b.Idle && a.NoExpiry == b.NoExpiry && a.Serial == b.Serial && a.Program == b.Program &&
		a.Lease == b.Lease && a.Proof == b.Proof && a.Since == b.Since && a.Data == b.Data && a.Guard == b.Guard && slices.Equal(a.Attrs, b.Attrs)
}

func sameWaiter(a, b Waiter) bool {
	return a.ID == b.ID && a.Session == b.Session && a.Label == b.Label && a.Mode == b.Mode && a.Permits == b.Permits && a.Order == b.Order &&
		a.Turn == b.Turn && a.Since == b.Since && a.Timeout == b.Timeout && a.Data == b.Data && a.Guard == b.Guard && slices.Equal(a.Attrs, b.Attrs)
}

// justTaken bounds the time between a take and a second command that sets the end of its lease. A later command counts
// as a change of the lease.
const justTaken = time.Second

// EndRemoved is the beginning of the Detail of an EventLeaseChanged if the lease has no end any more.
const EndRemoved = "it has no end any more"

// leaseChanged returns the event that the lease of a continuing owner was changed, but not by a renewal: it ends
// sooner, has no end any more, or has one now. ok is false if it did not change.
func (l *look) leaseChanged(p *Primitive, old, o *Owner, read time.Time) (e Event, ok bool) {
	var detail string
	before := leaseLeft(old, l.at)
	left, was := format.Precise(leaseLeft(o, l.at)), format.Precise(before)
	decided := l.decision(o.ref(), decidedChange)
	switch {
	case decided != nil:
		before, detail = decided.LeaseLeft, decided.Detail
	case leaseKnown(old) && o.NoExpiry:
		detail = EndRemoved + "; it had " + was + " left"
	case old.NoExpiry && leaseKnown(o) && (o.Since.How == AtLeast || l.at.Sub(o.Since.At) > justTaken):
		detail = "it ends in " + left + "; it had no end"
	case leaseKnown(old) && leaseKnown(o) && cut(old, o) > cutDoubt(o, l.at.Sub(read)):
		detail = "it ends in " + left + "; it had " + was + " left"
	default:
		return e, false
	}
	e = l.event(EventLeaseChanged, p)
	e.Owner, e.LeaseLeft, e.Detail = o.ref(), before, detail
	return e, true
}

// cut returns the minimum time by which a lease ends sooner than before.
func cut(old, o *Owner) time.Duration {
	end := old.Expires.At
	if after := old.Expires.After(); !after.IsZero() {
		end = after
	}
	return end.Sub(o.Expires.At)
}

// cutDoubt bounds the time by which an unchanged lease may seem to end sooner: the duration of the reading, plus the
// drift of two clocks since the last reading.
func cutDoubt(o *Owner, since time.Duration) time.Duration {
	doubt := expiryNoise + max(since, 0)/1000
	if after := o.Expires.After(); !after.IsZero() {
		doubt += o.Expires.At.Sub(after)
	}
	return doubt
}

// OwnerRule gives owners a readable label, a host and a program. Its texts may use $1 and ${name}.
type OwnerRule struct {
	Match   *regexp.Regexp
	Label   string // "" keeps the label
	Host    string // becomes HostAttr; "" if the label does not show it
	Program string // becomes ProgramAttr; "" if the label does not show it
}

// OwnerRules are applied to the labels of owners, waiters and candidates: the first matching rule is used.
type OwnerRules []OwnerRule

// Label returns the label that the first matching rule gives to text, or text itself.
func (rules OwnerRules) Label(text string) string {
	label, _ := rules.apply(text, nil)
	return label
}

// apply returns the label of text, and attrs with host and program added. It never changes attrs.
func (rules OwnerRules) apply(text string, attrs []Attr) (string, []Attr) {
	for _, r := range rules {
		m := r.Match.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		expand := func(template string) string { return string(r.Match.ExpandString(nil, template, text, m)) }
		attrs = slices.Clip(attrs)
		if host := expand(r.Host); host != "" {
			attrs = append(attrs, Attr{Key: HostAttr, Value: host})
		}
		if program := expand(r.Program); program != "" {
			attrs = append(attrs, Attr{Key: ProgramAttr, Value: program})
		}
		if r.Label != "" {
			text = expand(r.Label)
		}
		break
	}
	return text, attrs
}
