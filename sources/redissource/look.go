package redissource

import (
	"context"
	"time"

	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

// look reads keys and sends their changes. notices has the pushes about each name; it is nil without pushes.
func (w *watcher) look(ctx context.Context, names []string, notices []notice) error {
	questions, said := make([]question, 0, len(names)), make([]notice, len(names))
	for i, name := range names {
		k := w.keys[name]
		if w.denials.skips(k) {
			continue
		}
		n := &said[len(questions)]
		if notices != nil {
			*n = notices[i]
		}
		r, _ := w.ruleOf(name)
		questions = append(questions, question{
			name: name, arm: w.arms(name, !n.first.IsZero()),
			// mayBePushed repeats only these.
			brief: notices == nil && k != nil && k.pushed && !k.stale && !k.doubted && !k.denied,
			kind:  r.kind,
		})
		if k != nil {
			questions[len(questions)-1].known = k.checksum
		}
	}
	if len(questions) == 0 {
		return nil
	}
	start := time.Now()
	readings, err := fetch(ctx, w.link.conn, w.link.refusals(), questions)
	if err != nil {
		return err
	}
	w.link.readAnswered(start)
	if w.endsIn(questions, readings) {
		if err := w.countEvictions(); err != nil {
			return err
		}
	}
	if w.denials.probed(questions, readings) {
		w.resyncSoon()
	}
	var told []finding
	for i, r := range readings {
		name := questions[i].name
		if r == nil && w.starting() && w.listing.sweep.retries < mostRetries {
			w.listing.sweep.retries++
			w.listing.sweep.pending = append(w.listing.sweep.pending, name)
			continue
		}
		if f, ok := w.examine(name, r, said[i]); ok {
			told = append(told, f)
		}
		if k := w.keys[name]; k != nil && r != nil && r.shape == denied {
			k.armed = false
		} else if k != nil && questions[i].arm {
			k.armed = k.byKey && !k.denied
		}
	}
	if err := w.doubtOwners(told); err != nil {
		return err
	}
	return w.report(told)
}

// examine applies a reading to its key. ok is false if there is nothing to send, or if the key must be read again
// first.
func (w *watcher) examine(name string, r *reading, n notice) (f finding, ok bool) {
	if r == nil { // the key was written during each try
		if k := w.keys[name]; k != nil {
			w.ends.set(k, time.Now().Add(relook))
		}
		return f, false
	}
	k := w.admitted(name, r)
	if k == nil {
		return f, false
	}
	if !n.first.IsZero() {
		k.noticed = r.got
	}
	if k.rule.byValue && !k.unchanged(r) && (r.shape == text || r.shape == table) && lockformat.Find(name, r.content(), k.rule.kind) == nil {
		r = &reading{shape: missing, ttl: gone, sent: r.sent, got: r.got} // it has another content now
	}
	if k.sent.IsZero() && !w.link.selected.wants(name, k.rule, r) { // it has gone since the first look
		w.unwatch(k)
		return f, false
	}
	s := &sight{link: w.link, k: k, old: *k, r: r, n: n, starting: w.starting(), listed: w.listing.listed}
	s.now, s.p = k.examine(w.link.o, w.space, r)
	if s.mayBePushed() {
		k.doubted = true
		w.ends.set(k, r.got.Add(patience))
		return f, false
	}
	w.learn(s)
	if s.mayBeHeldUp() {
		w.ends.set(k, r.got.Add(patience))
		return f, false
	}
	return w.publish(s)
}

// admitted returns the key of a name, and starts to watch it if the reading shows a selected lock. Otherwise it returns
// nil.
func (w *watcher) admitted(name string, r *reading) *key {
	if k := w.keys[name]; k != nil {
		return k
	}
	rule, selected := w.ruleOf(name)
	if rule.guessed && !rule.byValue && r.shape == denied {
		w.guess.refused++
	}
	if !selected || !w.link.selected.wants(name, rule, r) || !w.capacity.fits(name) || rule.byValue && w.guess.tooManyAlike(name, rule, r) {
		return nil
	}
	k := newKey(name, rule)
	w.admit(k)
	return k
}

// learn notes what a sight shows about other keys: whether pushes are reliable, and whether more keys may be refused.
func (w *watcher) learn(s *sight) {
	k, r := s.k, s.r
	switch differs := s.differs(); {
	case differs:
		k.changed = r.got
		if k.doubted && k.pushed && !s.old.sent.IsZero() && !s.pushed() {
			w.checks.suspect(k, r, w.link.push.mode)
		}
	case s.pushed() && !s.n.flush && s.n.last.Sub(k.changed) > time.Second && w.tracking.futilePush(k, s.n.last):
		w.admit(k)
	}
	w.denials.some = w.denials.some || r.shape == denied
	w.refused = w.refused || r.shape == denied || s.now.noRight
	if r.shape == denied && !k.denied && s.old.shown.all != 0 && !s.old.stale {
		w.resyncSoon() // other keys may be refused as well
	}
}

// publish turns a confirmed sight into a finding. ok is false if it shows nothing new.
func (w *watcher) publish(s *sight) (f finding, ok bool) {
	k := s.k
	if from, ok := s.unseen(w.sampling()); ok {
		w.unseen = append(w.unseen, sources.Unseen{Ref: w.ref(k.name), From: from, To: s.r.got})
	}
	w.gathering.saw(s.old.shown.all == s.now.all)
	fresh := k.update(&s.now, s.r)
	w.schedule(k, s.r)
	if !fresh {
		return f, false
	}
	if s.p == nil {
		s.p = k.primitive(w.link.o, w.space, s.r)
	}
	s.p.Incarnation = w.link.server.data
	k.handOver(s.p, k.whole != nil || w.capacity.keys < mostWhole)
	k.shown.text = w.capacity.replace(&s.old.shown, s.p)
	f = finding{prim: s.p, when: s.when(), ended: s.ended(w.status.dataLost, w.mayBeEvicted(s))}
	if f.ended != nil {
		f.ended.Ref = s.p.Ref
	}
	if s.ownersDiffer() && !s.old.stale {
		f.since = s.old.sent
	} else if s.old.sent.IsZero() && s.pushed() {
		f.since = w.listing.listed
	}
	if s.old.sent.IsZero() && !w.listing.complete && !w.starting() {
		f.unread = unread(s.p)
	}
	return f, true
}

func (w *watcher) ruleOf(name string) (r rule, ok bool) {
	if k := w.keys[name]; k != nil {
		return k.rule, true
	}
	if r, ok = w.link.selected.find(name); w.guess.semaphores[name] {
		r.kind = sources.KindSemaphore
	}
	return r, ok
}

// starting reports whether the first sweep is still running.
func (w *watcher) starting() bool { return w.listing.sweep != nil && w.listing.sweep.first }

// unread returns p as a row that was not read yet. It is sent first, to show that the key was found and not created
// just now.
func unread(p *sources.Primitive) *sources.Primitive {
	return &sources.Primitive{
		Ref: p.Ref, Kind: p.Kind, Labels: p.Labels, Expected: p.Expected, ForgetAfter: p.ForgetAfter,
	}
}

// relook is the pause before the next look at a key that should be gone, or was written during the look.
const relook = 5 * time.Millisecond

// schedule sets the time of the look at the end of k's lease.
func (w *watcher) schedule(k *key, r *reading) {
	if k.ends.at.IsZero() {
		w.ends.set(k, time.Time{})
		return
	}
	at := k.ends.at.Add(tick)
	if eve := k.ends.after.Add(-w.link.readHeartbeat.now().tolerance() / 2); !k.pushed && eve.After(r.got) {
		at = eve // if this read finds the owner, the lease will run out, see maybeRenewed
	} else if soonest := r.got.Add(relook); at.Before(soonest) && r.ttl <= tick {
		at = soonest
	}
	w.ends.set(k, at)
}

// report sends findings, the earliest first, and those of the same time together.
func (w *watcher) report(list []finding) error {
	if unseen := w.unseen; len(unseen) > 0 {
		w.unseen = nil
		if err := w.link.Send(sources.Change{Unseen: unseen}); err != nil {
			return err
		}
	}
	for _, c := range changes(list) {
		if err := w.link.Send(c); err != nil {
			return err
		}
	}
	return nil
}
