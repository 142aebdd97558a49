package sources

import (
	"time"

	"coordtop/internal/format"
)

// justTaken is how soon after it was taken an owner may set the end of its lease in a step of
// its own: that belongs to the taking.
const justTaken = time.Second

// EndRemoved begins the Detail of an EventLeaseChanged of a lease that has no end any more.
const EndRemoved = "it has no end any more"

// leaseChanged tells that the lease of an owner that goes on owning it changed otherwise than
// by a renewal: it ends sooner, has no end any more, or has one now. ok is false if it did not.
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

// cut is by how much a lease ends sooner at least.
func cut(old, o *Owner) time.Duration {
	end := old.Expires.At
	if after := old.Expires.After(); !after.IsZero() {
		end = after
	}
	return end.Sub(o.Expires.At)
}

// cutDoubt is by how much a lease that was not changed may seem to end sooner: by what the
// reading took, and by how much two clocks part in the time since the last one.
func cutDoubt(o *Owner, since time.Duration) time.Duration {
	doubt := expiryNoise + max(since, 0)/1000
	if after := o.Expires.After(); !after.IsZero() {
		doubt += o.Expires.At.Sub(after)
	}
	return doubt
}
