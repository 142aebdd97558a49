package pgsource

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/mask"
	"coordtop/sources"
)

// primitive returns the row of a lock.
func (d *lookDiff) primitive(l *lock, trying []*session) *sources.Primitive {
	t := d.after
	p := &sources.Primitive{
		Ref:  sources.Ref{Source: t.o.Name, Space: l.space, Name: l.key.String()},
		Kind: sources.KindMutex, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told,
		At: t.got, Incarnation: t.incarnation, Labels: t.o.Labels, ForgetAfter: t.o.Forget,
		Queue: sources.Queue{How: l.line.how(), At: t.got},
	}
	if l.rule != nil {
		p.Name, p.Kind = l.rule.name, l.rule.kind
	}
	if l.selected(t.server.database) {
		p.ForgetAfter, p.Expected = never, l.rule.expected
	}
	owners := l.owners
	l.owners = nil
	alone := false
	for i := range l.rows {
		r := &l.rows[i]
		if !r.granted {
			continue
		}
		o := d.owner(l, r, owners)
		alone = alone || o.Mode == sources.Exclusive
		p.Owners = append(p.Owners, o)
	}
	for i := range l.line.waiters {
		p.Queue.Waiters = append(p.Queue.Waiters, d.waiter(l, i))
	}
	p.Taken = uint64(len(p.Owners))
	switch {
	case alone:
		p.Taken = 1
	case len(p.Owners) > 0:
		p.Limit = sources.NoLimit
	}
	p.Queue.Len = len(p.Queue.Waiters)
	for _, s := range trying { // the list may be incomplete, so CandidatesHow stays Unknown
		p.Candidates = append(p.Candidates, d.candidate(s))
	}
	if l.shown == nil {
		l.programs = wellKnown(p.Space, l.key)
	}
	p.Alias, p.AliasHow = t.alias(l)
	p.OnWallClock()
	return p
}

// owner returns the owner in a row. The terms in before are from the last look.
func (d *lookDiff) owner(l *lock, r *lockRow, before []term) sources.Owner {
	o := sources.Owner{Permits: 1, Mode: r.mode.shown(), NoExpiry: true}
	s := d.after.sessions[r.pid]
	var now term
	if r.pid == 0 {
		x := d.s.prepared[r.virtual]
		o.Label = "prepared " + x.gid
		o.ID = ownerID(o.Label, r.mode, before, l.owners)
		now = d.term(l, o.ID, r, before)
		o.Attrs = []sources.Attr{{Key: "prepared", Value: instant(d.s.clock.local(x.at))},
			{Key: "gid", Value: x.gid}, {Key: "usename", Value: x.user}}
	} else {
		data := s.data()
		o.ID, o.Session = ownerID(s.id, r.mode, before, l.owners), s.id
		now = d.term(l, o.ID, r, before)
		// All sessions of one program on one host count as one Program. Behind a pooler all clients have its address,
		// so there all sessions of one user do. The same holds for sessions without an application name, because
		// otherwise each would have its own letter.
		o.Label, o.Data, o.Program = now.label(s), sources.NewBlob(data, len(data)), sources.ProgramOf(now.nameOf(s), s.who.address, s.who.user)
	}
	o.Guard = d.guard(r, s)
	if now.owner, now.mode = o.Session, r.mode; r.pid == 0 {
		now.owner = o.Label
	}
	l.owners = append(l.owners, now)
	o.Since, o.Proof = now.since, now.proof
	if s != nil {
		o.Idle, o.Attrs = s.does.idle(), append(s.attrs(d.s.clock), now.leak(s)...)
		if now.session {
			o.Attrs = append(o.Attrs, sources.Attr{Key: "level", Value: "session"})
		}
		if s.trace != (trace{}) {
			l.tried = s.trace
		}
	}
	if e, ok := d.evicted(r.oid, l.key); ok && (e.waiting || e.pid != r.pid || r.pid == 0) {
		key := OwnerEvicted
		if e.waiting {
			key = WaitEvicted
		}
		o.Attrs = append(o.Attrs, sources.Attr{Key: key, Value: fmt.Sprintf("ended by force by %s at %s", format.Clean(e.by, 100), e.at.UTC().Format(time.TimeOnly+" UTC"))})
	}
	o.Attrs = append(o.Attrs, d.notEnded(r, s)...)
	if r.mode != exclusive && r.mode != share {
		o.Attrs = append(o.Attrs, sources.Attr{Key: "mode", Value: modeNames[r.mode]})
	}
	return o
}

// evicted returns the last recently announced eviction from a key.
func (d *lookDiff) evicted(db uint32, key pgcoord.Key) (e eviction, ok bool) {
	e, ok = d.s.evicted[evictedKey{utoa(db), key.String()}]
	return e, ok
}

// term continues an owner's term or begins one. The server does not report since when an owner owns. An owner in the
// first look owned at that time, but not before its backend began. For a later one the Hub knows the two looks between
// which it appeared.
func (d *lookDiff) term(l *lock, id string, r *lockRow, before []term) term {
	s, proof := d.after.sessions[r.pid], d.proof(r)
	now := term{id: id, taker: true}
	if s != nil {
		now.transaction, now.name, now.took = s.does.transaction, s.name(), strings.Contains(s.does.query, "advisory_")
	}
	if i := slices.IndexFunc(before, func(t term) bool { return t.id == id }); i >= 0 {
		name := now.name
		if now = before[i]; d.before.fresh && (proof == 0 || proof != now.proof) {
			now.name, now.taker = name, false // the lock may have been released and acquired between two looks
		}
	} else if d.before.fresh || l.shown == nil && l.read.IsZero() {
		now.taker = false
		now.since = sources.Stamp{At: d.s.got, How: sources.AtLeast}
		if s != nil && s.since.Before(d.s.got) {
			now.since = sources.StampBetween(s.since, d.s.got, sources.AtLeast)
		}
	}
	if s != nil && !s.who.hidden {
		now.session = now.session || s.does.transaction == 0 || s.does.transaction != now.transaction
	}
	now.proof = proof
	return now
}

// waiter returns the waiter at place i of the queue.
func (d *lookDiff) waiter(l *lock, i int) sources.Waiter {
	r := &l.rows[l.line.waiters[i].row]
	s := d.after.sessions[r.pid]
	data := s.data()
	w := sources.Waiter{
		ID: s.id, Session: s.id, Label: label(s.name(), s.pid), Mode: r.mode.shown(), Permits: 1,
		Turn: l.line.waiters[i].turn, Since: s.waitsSince(r.wait != 0 && d.after.server.major >= toldWaits, d.s.clock), Data: sources.NewBlob(data, len(data)), Guard: d.guard(r, s), Attrs: append(s.attrs(d.s.clock), d.notEnded(r, s)...),
	}
	var names []string
	for _, o := range blockers(l.rows, &l.line, i, blockersShown+1) {
		if len(names) == blockersShown {
			names = append(names, "...")
			break
		}
		if o.pid != 0 {
			names = append(names, utoa(o.pid))
		} else {
			names = append(names, "prepared "+format.Clean(d.s.prepared[o.virtual].gid, 100))
		}
	}
	if len(names) > 0 {
		w.Attrs = append(w.Attrs, sources.Attr{Key: "blocked by", Value: strings.Join(names, " ")})
	}
	return w
}

const blockersShown = 20

// attrs returns the facts of a session, with the column names of pg_stat_activity. Times are instants on our clock, not
// ages, so that they stay true while they are shown.
func (s *session) attrs(c clock) []sources.Attr {
	list := make([]sources.Attr, 0, 12)
	add := func(key, value string) {
		if value != "" {
			list = append(list, sources.Attr{Key: key, Value: value})
		}
	}
	at := func(key string, micros int64) {
		if micros != 0 {
			add(key, instant(c.local(micros)))
		}
	}
	add("pid", utoa(s.pid))
	add("application", mask.Text(s.name()))
	add("user", s.who.user)
	add(AlsoOwns, s.does.owns)
	if s.who.hidden {
		add("hidden", "client, state, query and times: they need pg_monitor")
		return list
	}
	add("client", s.who.client)
	if s.who.kind != "client backend" {
		add("backend type", s.who.kind)
	}
	if add("state", s.does.state); s.does.idle() == sources.IdleInTransaction {
		list[len(list)-1].Odd = true
	}
	add("waits for", s.does.waits)
	add(sources.Vacuum, s.does.xmin)
	add("query", s.query)
	if !s.since.IsZero() {
		add("backend start", instant(s.since))
	}
	at("transaction start", s.does.transaction)
	at("query start", s.does.queried)
	at("state change", s.does.changed)
	return list
}
