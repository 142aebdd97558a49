package sources

import (
	"cmp"
	"encoding/binary"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
)

// finder finds owners in a list that mostly keeps its order: it tries first the one after the
// last one found, and builds an index where two lists differ.
type finder struct {
	look   *look
	owners []Owner
	next   int
	byID   map[string]int // the first with this ID; nil until two lists differ
}

func (f *finder) find(o *Owner) *Owner {
	if f.next < len(f.owners) && f.look.goesOn(&f.owners[f.next], o) {
		f.next++
		return &f.owners[f.next-1]
	}
	if f.byID == nil {
		f.byID = make(map[string]int, len(f.owners))
		for i := range slices.Backward(f.owners) {
			f.byID[f.owners[i].ID] = i
		}
	}
	first, ok := f.byID[o.ID]
	if !ok {
		return nil
	}
	for i := first; i < len(f.owners); i++ {
		if f.look.goesOn(&f.owners[i], o) {
			f.next = i + 1
			return &f.owners[i]
		}
	}
	return nil
}

// find returns the first wanted item of a list; nil: there is none.
func find[T any](list []T, wanted func(*T) bool) *T {
	for i := range list {
		if wanted(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// leaseKnown reports whether the end of the lease is known.
func leaseKnown(o *Owner) bool { return !o.NoExpiry && o.Expires.How != Unknown }

// leaseOver reports whether the lease may have ended by t: its end in (After, At] is possible as
// soon as After has passed.
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

// leaseLeft returns the remaining time of the lease at t; 0: unknown or none.
func leaseLeft(o *Owner, t time.Time) time.Duration {
	if !leaseKnown(o) {
		return 0
	}
	return max(o.Expires.At.Sub(t), 0)
}

// Two readings of one lease's end differ by the time that the reading takes, at most expiryNoise. Ends
// that carry their doubt differ only by the rounding of the remaining time.
const (
	expiryRounding = 2 * time.Millisecond
	expiryNoise    = 25 * time.Millisecond
)

// renewed reports whether the lease was renewed between two looks at the same owner.
func renewed(before, after *Owner) bool {
	if before.Renewed.How == Told && after.Renewed.How == Told {
		return after.Renewed.At.After(before.Renewed.At)
	}
	if !leaseKnown(before) || !leaseKnown(after) {
		return false
	}
	if after.Expires.After().IsZero() {
		return after.Expires.At.Sub(before.Expires.At) > expiryNoise
	}
	return after.Expires.After().Sub(before.Expires.At) > expiryRounding
}

// certainty orders the ways of knowing an owner's Since.
var certainty = [...]uint8{Unknown: 0, AtLeast: 1, Bound: 2, Claimed: 3, Inferred: 3, Seen: 4, Told: 5, Ours: 5}

// complete returns after with the owners' Since, Renewed, Rhythm and taker filled in from this look and
// those before. It copies a primitive that it completes: after does not change.
func (l *look) complete(before, after *Primitive) *Primitive {
	if !read(after) || len(after.Owners) == 0 {
		return after
	}
	was := finder{look: l}
	found := l.found(before) || l.madeUp(before, after)
	if read(before) {
		l.restarts, was.owners = restarted(before, after), before.Owners
	}
	full := after
	for i := range after.Owners {
		o := &after.Owners[i]
		old := was.find(o)
		since, renewal, rhythm := l.completed(old, o, found)
		label, attrs := l.taker(old, o)
		if since == o.Since && renewal == o.Renewed && rhythm == o.Rhythm && len(attrs) == len(o.Attrs) {
			continue
		}
		if full == after {
			full = new(Primitive)
			*full = *after
			full.Owners = append([]Owner(nil), after.Owners...)
		}
		full.Owners[i].Since, full.Owners[i].Renewed, full.Owners[i].Rhythm = since, renewal, rhythm
		full.Owners[i].Label, full.Owners[i].Attrs = label, attrs
	}
	return full
}

func (l *look) completed(old, o *Owner, found bool) (since, renewal Stamp, _ Rhythm) {
	since, renewal = o.Since, o.Renewed
	if old != nil && l.doubts(old, o) {
		l.inDoubt = append(l.inDoubt, o.ID)
		since = l.doubted(cmp.Or(since, old.Since), old.Since)
		return since, renewal, old.Rhythm // renewals in the dark are unknown
	}
	if old != nil && l.darkened() {
		l.proved = append(l.proved, o.ref())
	}
	var ours Stamp
	switch {
	case old != nil:
		ours = old.Since
	case found:
		ours = Stamp{At: l.at, How: AtLeast}
	default:
		ours = l.stamp()
	}
	switch {
	case certainty[ours.How] > certainty[since.How]:
		since = ours
	case ours.How == AtLeast && since.How == AtLeast && ours.At.Before(since.At): // from before the source connected anew
		since = StampBetween(Later(ours.After(), since.After()), ours.At, AtLeast)
	case old != nil && ours.How == AtLeast && looked(since.How) && since.At.Before(ours.At): // the source knows of no doubt
		since = ours
	}
	if old == nil {
		return since, renewal, Rhythm{}
	}
	anew := renewed(old, o)
	if renewal.How == Unknown {
		renewal = old.Renewed
		if anew {
			renewal = l.stamp()
		}
	}
	return since, renewal, l.rhythm(old, anew)
}

// rhythm returns the rhythm of an owner that owned it at the last look, too. A pause with
// darkness in it is not counted: renewals may have been missed.
func (l *look) rhythm(old *Owner, anew bool) Rhythm {
	if !anew || l.darkened() {
		return old.Rhythm
	}
	last, ok := lastRenewed(old)
	if !ok {
		return old.Rhythm.renewed(0)
	}
	return old.Rhythm.renewed(l.at.Sub(last))
}

// OwnerRule gives owners a readable label, and says where they run. Its texts may use $1 and ${name}.
type OwnerRule struct {
	Match   *regexp.Regexp
	Label   string // "": the label stays
	Host    string // becomes HostAttr; "": it is not known from the label
	Program string // becomes ProgramAttr; likewise
}

// OwnerRules are applied to the labels of owners, waiters and candidates: the first rule that matches counts.
type OwnerRules []OwnerRule

// Label returns the label that the first matching rule gives to text, or text itself.
func (rules OwnerRules) Label(text string) string {
	label, _ := rules.apply(text, nil)
	return label
}

// apply returns the label of text, and attrs with where it runs. It never changes attrs.
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

// The attributes of an owner whose session has another name than when it took the lock: TakenBy is its
// name at the take, FirstSeenAs its name at the first look after the take, and Leaked warns that a
// pooler lends the session to others, or may do so.
const (
	TakenBy     = "taken by"
	FirstSeenAs = "first seen as"
	Leaked      = "leaked"
)

// taker returns the label and the attributes of o, with the name of the taker from old, the same owner at
// the look before, or nil: a source that connected after the take knows only the session's present name.
// Leaked is kept as long as nothing was done in the session.
func (l *look) taker(old, o *Owner) (label string, attrs []Attr) {
	label, attrs = o.Label, o.Attrs
	if old == nil || l.doubts(old, o) {
		return label, attrs
	}
	for _, a := range old.Attrs {
		took := a.Key == TakenBy || a.Key == FirstSeenAs
		switch {
		case slices.ContainsFunc(o.Attrs, func(b Attr) bool { return a.Key == b.Key }):
		case took && !strings.HasPrefix(label, a.Value): // else it has that name again
			label, attrs = a.Value+", now "+label, append(slices.Clip(attrs), a)
		case a.Key == Leaked && o.Proof != 0 && o.Proof == old.Proof:
			attrs = append(slices.Clip(attrs), a)
		}
	}
	return label, attrs
}

// Rhythm is the usual pause between two renewals of one owner, as far as we saw them. The zero Rhythm is
// unknown. It is kept in milliseconds, so that it fits into the padding of an Owner.
type Rhythm struct {
	every [4]byte // milliseconds; no uint32, which would be aligned and take more room
	seen  uint8
}

// millis returns the usual pause; 0: unknown.
func (r Rhythm) millis() uint32 { return binary.LittleEndian.Uint32(r.every[:]) }

// usually returns the rhythm with another pause.
func (r Rhythm) usually(millis uint32) Rhythm {
	binary.LittleEndian.PutUint32(r.every[:], millis)
	return r
}

// RhythmOf returns the Rhythm with this usual pause (0: unknown; 49 days at most) and number of seen
// renewals, of which at most 255 are counted.
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

// renewed returns the rhythm with one more pause. A single outlier, such as a missed renewal,
// moves it by a quarter at most.
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

// RenewEvery returns the shortest usual pause between two renewals of an owner of the row; 0:
// none is known.
func (r *Row) RenewEvery() time.Duration {
	var shortest time.Duration
	for i := range r.Owners {
		if every := r.Owners[i].RenewEvery(); every > 0 && (shortest == 0 || every < shortest) {
			shortest = every
		}
	}
	return shortest
}

// justTaken is the time after a take within which setting the end of the lease, in a second command,
// still belongs to the take.
const justTaken = time.Second

// EndRemoved begins the Detail of an EventLeaseChanged of a lease that has no end any more.
const EndRemoved = "it has no end any more"

// leaseChanged makes the event that the lease of an owner that goes on changed, but was not
// renewed: it ends sooner, has no end any more, or has one now. ok is false if it did not change.
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

// cut returns the least time by which a lease ends sooner than before.
func cut(old, o *Owner) time.Duration {
	end := old.Expires.At
	if after := old.Expires.After(); !after.IsZero() {
		end = after
	}
	return end.Sub(o.Expires.At)
}

// cutDoubt bounds the time by which an unchanged lease may seem to end sooner: the length of the
// reading, and the drift of two clocks since the last one.
func cutDoubt(o *Owner, since time.Duration) time.Duration {
	doubt := expiryNoise + max(since, 0)/1000
	if after := o.Expires.After(); !after.IsZero() {
		doubt += o.Expires.At.Sub(after)
	}
	return doubt
}
