package fleet

import (
	"cmp"
	"slices"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/sources/verdict"
)

// Input holds the arguments of Parties.
type Input struct {
	State *sources.State
	Now   time.Time
	By    origin.By
	// Findings mark the parties that they are about. Who owned what they are about, and owns nothing now, is a
	// party too.
	Findings []diagnose.Finding
}

// Party is all that runs on one host, belongs to one program, or is one session.
type Party struct {
	By       origin.By
	Key      string           // identifies it among the parties of one By
	Name     string           // of what others wrote: neither cut nor cleaned
	Severity verdict.Severity // of the gravest finding about it; Well: there is none; Blind: nothing of it is known to be true now
	Findings []*diagnose.Finding

	Owns    []Holding // what hurts most first
	Leads   int       // elections among them
	Awaits  []Waiting
	Unasked bool           // a backend of what it owns reports no queue, so it may wait for more than Awaits
	Sources []string       // of what it owns, awaits or has lost
	Lost    []*sources.Row // what nobody owns now, and it owned last, as far as a finding is about it

	Oldest  sources.Stamp // of its ownerships; How Unknown: none is known
	Seen    sources.Stamp // when it was last seen to take, renew or ask for something; How Unknown: it never was
	Changes int           // how often what it owns or has lost changed hands in the last hour
	Fall    Fall
}

// Waiting is a row that a party waits for.
type Waiting struct {
	Row    *sources.Row
	Waiter *sources.Waiter
	Place  int // in the queue, from 1
}

// most bounds the waiters and owners of a row that are compared with each other.
const most = 100

// Parties returns the parties of a State: those with a problem first, then those that hurt most if they die.
func Parties(in *Input) []*Party {
	b := &builder{in: in, byKey: map[string]*Party{}, labels: origin.Labels{}, hour: in.Now.Add(-diagnose.Lookback)}
	for _, row := range in.State.Rows {
		if row != nil {
			b.row(row)
		}
	}
	for i := range in.Findings {
		b.finding(&in.Findings[i])
	}
	list := make([]*Party, 0, len(b.byKey))
	for _, p := range b.byKey {
		if len(p.Owns)+len(p.Awaits)+len(p.Lost) == 0 {
			continue // it only owned something within the hour
		}
		p.finish(in.State)
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *Party) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(len(b.Lost), len(a.Lost)), cmp.Compare(b.Fall.Alone, a.Fall.Alone), cmp.Compare(b.Fall.Rows, a.Fall.Rows),
			cmp.Compare(b.Leads, a.Leads), cmp.Compare(len(b.Owns), len(a.Owns)), cmp.Compare(len(b.Awaits), len(a.Awaits)),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	})
	return list
}

// builder is one call of Parties.
type builder struct {
	in      *Input
	byKey   map[string]*Party
	labels  origin.Labels
	hour    time.Time // the beginning of the last hour
	owners  []*Party  // of the row that is read, by owner
	waiters []*Party  // likewise, by waiter
}

// KeyOf returns the key of the party to which somebody belongs; source is that of the row.
func KeyOf(by origin.By, source string, o origin.Origin) string {
	return (&builder{in: &Input{By: by}}).keyOf(source, o)
}

func (b *builder) keyOf(source string, o origin.Origin) string {
	if b.in.By == origin.BySession && b.labels.OfName(o.Label).Host == "" {
		// such a label may be another session's on another server
		return source + "\x00" + o.Under(b.in.By)
	}
	return o.Under(b.in.By)
}

// party returns the party of an origin, and creates it at the first call. It returns nil for an origin without a name.
func (b *builder) party(source string, o origin.Origin) *Party {
	key := b.keyOf(source, o)
	p := b.byKey[key]
	if p == nil {
		name := o.Under(b.in.By)
		if name == "" {
			return nil
		}
		p = &Party{By: b.in.By, Key: key, Name: name, Severity: verdict.Well}
		b.byKey[key] = p
	}
	return p
}

// row adds a row to the parties of its owners and waiters.
func (b *builder) row(row *sources.Row) {
	b.owners, b.waiters = b.owners[:0], b.waiters[:0]
	for i := range row.Owners {
		b.owners = append(b.owners, b.party(row.Source, b.labels.OfOwner(&row.Owners[i])))
	}
	for i := range row.Queue.Waiters {
		b.waiters = append(b.waiters, b.party(row.Source, b.labels.OfWaiter(&row.Queue.Waiters[i])))
	}
	for i, p := range b.owners {
		if p != nil {
			b.owns(p, row, i)
		}
	}
	for i, p := range b.waiters {
		if p != nil {
			w := &row.Queue.Waiters[i]
			p.Awaits = append(p.Awaits, Waiting{row, w, i + 1})
			p.in(row.Source)
			p.did(w.Since)
		}
	}
}

// owns adds an owner to its party. Several of one party on a row are one Holding.
func (b *builder) owns(p *Party, row *sources.Row, i int) {
	o, fresh := &row.Owners[i], row.Fresh(b.in.State)
	p.did(o.Since)
	p.did(o.Renewed)
	if s := o.Since; s.How != sources.Unknown && (p.Oldest.How == sources.Unknown || s.At.Before(p.Oldest.At)) {
		p.Oldest = s
	}
	if n := len(p.Owns); n > 0 && p.Owns[n-1].Row == row {
		p.Owns[n-1].add(o, fresh)
		return
	}
	h := Holding{Row: row}
	h.add(o, fresh)
	h.Next, h.Names = b.next(p, row)
	p.Owns = append(p.Owns, h)
	b.has(p, row)
	if row.Kind == sources.KindElection {
		p.Leads++
	}
}

// has notes a row that a party owns or has lost.
func (b *builder) has(p *Party, row *sources.Row) {
	p.in(row.Source)
	p.Unasked = p.Unasked || row.Queue.How == sources.Unknown
	p.Changes += row.Changes(b.in.Now, diagnose.Lookback)
}

// finding marks the parties that a finding is about.
func (b *builder) finding(f *diagnose.Finding) {
	for i := range f.Rows {
		row := f.Rows[i].Row
		for j := range row.Owners[:min(len(row.Owners), most)] {
			b.mark(b.party(row.Source, b.labels.OfOwner(&row.Owners[j])), f)
		}
		last := row.LastTerm()
		if len(row.Owners) > 0 || last == nil || last.End.At.Before(b.hour) {
			continue
		}
		if p := b.party(row.Source, b.labels.OfName(last.Owner.Name())); p != nil {
			p.Lost = append(p.Lost, row)
			b.has(p, row)
			b.mark(p, f)
		}
	}
	for _, who := range f.Who {
		b.mark(b.byKey[who], f)
	}
}

func (b *builder) mark(p *Party, f *diagnose.Finding) {
	if p == nil || slices.Contains(p.Findings, f) {
		return
	}
	p.Findings = append(p.Findings, f)
	p.Severity = min(p.Severity, f.Severity)
}

// in notes a source.
func (p *Party) in(source string) {
	if !slices.Contains(p.Sources, source) {
		p.Sources = append(p.Sources, source)
	}
}

// did notes an instant at which it was seen to do something.
func (p *Party) did(at sources.Stamp) {
	if at.Happened() && at.At.After(p.Seen.At) {
		p.Seen = at
	}
}

// finish sorts what a party has, and sums up what falls with it.
func (p *Party) finish(st *sources.State) {
	slices.Sort(p.Sources)
	for i := range p.Owns {
		p.Fall.add(&p.Owns[i])
	}
	answers := slices.ContainsFunc(p.Owns, func(h Holding) bool { return h.Row.Fresh(st) })
	if len(p.Owns) > 0 && !answers && !p.Severity.Problem() {
		p.Severity = verdict.Blind
	}
	slices.SortFunc(p.Owns, func(a, b Holding) int {
		return cmp.Or(cmp.Compare(a.Next, b.Next), cmp.Compare(a.Row.Kind, b.Row.Kind), a.Row.Compare(b.Row.Ref))
	})
	slices.SortFunc(p.Awaits, func(a, b Waiting) int { return cmp.Or(a.Row.Compare(b.Row.Ref), cmp.Compare(a.Place, b.Place)) })
	slices.SortFunc(p.Lost, func(a, b *sources.Row) int { return a.Compare(b.Ref) })
}

// Soonest returns the ownership that ends first if the party dies now; nil: it owns nothing.
func (p *Party) Soonest() (soonest *Holding) {
	for i := range p.Owns {
		h := &p.Owns[i]
		if soonest == nil || h.Ends < soonest.Ends || h.Ends == soonest.Ends && h.Until.Before(soonest.Until) {
			soonest = h
		}
	}
	return soonest
}

// AwaitsText counts what the party awaits; "?": nothing is seen, but a server does not tell.
func (p *Party) AwaitsText() string {
	if len(p.Awaits) == 0 && p.Unasked {
		return "?"
	}
	return format.Count(len(p.Awaits))
}

// Label returns the name, clean and cut for a terminal.
func (p *Party) Label() string { return label(p.Name) }

// maxText is the most bytes that a sentence repeats of a text that others wrote.
const maxText = 60

func label(text string) string { return format.Label(text, maxText) }
