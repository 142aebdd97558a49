package redissource

import (
	"context"
	"time"

	"coordtop/sources"
)

// look reads keys and tells what is new about them. notices, one a name, say what was
// pushed; nil: nothing was.
func (w *watcher) look(ctx context.Context, names []string, notices []notice) error {
	if names, notices = w.readable(names, notices); len(names) == 0 {
		return nil
	}
	questions := make([]question, len(names))
	for i, name := range names {
		k := w.keys[name]
		questions[i] = question{
			name: name, arm: w.arms(name, notices != nil && !notices[i].first.IsZero()),
			// mayBePushed doubts only these.
			brief: notices == nil && k != nil && k.pushed && !k.stale && !k.doubted,
		}
	}
	start := time.Now()
	readings, err := fetch(ctx, w.conn, w.refusals(), questions)
	if err != nil {
		return err
	}
	w.readAnswered(start)
	w.retry(names, readings)
	var told []finding
	for i, r := range readings {
		if r == nil && w.starting() && w.sweep.retries < mostRetries {
			w.sweep.retries++
			w.sweep.pending = append(w.sweep.pending, names[i])
			continue
		}
		var n notice
		if notices != nil {
			n = notices[i]
		}
		if f, ok := w.take(names[i], r, n); ok {
			told = append(told, f)
		}
		if k := w.keys[names[i]]; k != nil && r != nil && r.shape == denied {
			k.armed = false
		} else if k != nil && questions[i].arm {
			k.armed = k.byKey && !k.denied
		}
	}
	return w.report(told)
}

// take brings a key up to date. ok is false if there is nothing to tell.
func (w *watcher) take(name string, r *reading, n notice) (f finding, ok bool) {
	k := w.keys[name]
	if r == nil { // it would not stand still
		if k != nil {
			w.ends.set(k, time.Now().Add(relook))
		}
		return f, false
	}
	if k == nil {
		rule, selected := w.selected.find(name)
		if !selected || !w.worthIt(rule, r) || !w.capacity.fits(name) {
			return f, false
		}
		k = newKey(name, rule)
		w.admit(k)
	}
	if !n.first.IsZero() {
		k.noticed = r.got
	}
	old := k.previous()
	if old.sent.IsZero() && !w.worthIt(k.rule, r) { // it was there when it was doubted
		w.unwatch(k)
		return f, false
	}
	p := k.primitive(w.o, w.space, r)
	if w.mayBePushed(k, p, r, n) {
		k.doubted = true
		w.ends.set(k, r.got.Add(patience))
		return f, false
	}
	if differs := k.differs(p, r); differs {
		k.changed = r.got
	} else if !n.first.IsZero() && !n.flush && n.last.Sub(k.changed) > time.Second && w.tracking.futilePush(k, n.last) {
		w.admit(k)
	}
	if k.doubted && k.pushed && !old.sent.IsZero() && n.first.IsZero() && k.differs(p, r) {
		w.suspect(k, r)
	}
	w.denials.some = w.denials.some || r.shape == denied
	if r.shape == denied && !k.denied && old.shown != nil && !old.stale {
		w.resyncSoon() // others may be refused too
	}
	if w.mayBeHeldUp(k, old, p, r, n) {
		w.ends.set(k, r.got.Add(patience))
		return f, false
	}
	w.noteUnseen(k, old, p, r, n)
	if !k.update(p, r) {
		w.schedule(k, r)
		return f, false
	}
	w.capacity.replace(old.shown, p)
	w.schedule(k, r)
	f = finding{prim: p, when: w.when(k, old, p, r, n), ended: ending(old.shown, p, n)}
	if f.ended == nil && w.maybeRenewed(k, old, p, r) {
		f.ended = &sources.Ending{Ref: p.Ref, Owner: old.shown.Owners[0].ID, How: sources.Inferred}
	}
	if w.dataLost && f.ended == nil {
		f.ended = old.endedByRestart(p, r)
	}
	if old.sent.IsZero() && !w.complete && !w.starting() {
		f.unread = unread(p)
	}
	return f, true
}

// mayBeHeldUp reports whether an owner is gone whose lease is over, and a push may be on its
// way that says it gave it up before. The next answered ping settles it.
func (w *watcher) mayBeHeldUp(k *key, old previous, p *sources.Primitive, r *reading, n notice) bool {
	return n.first.IsZero() && !old.stale && w.tracks(k) && old.lastedUntilOver(p, r) &&
		w.unpushedUntil(k).Before(old.ends.at) && r.got.Sub(old.ends.at) < longestDoubt
}

// maybeRenewed reports whether the owner of a key that is polled is gone, whose lease may have
// been over, and who may as well have renewed it and given it up since the last look.
func (w *watcher) maybeRenewed(k *key, old previous, p *sources.Primitive, r *reading) bool {
	return !k.pushed && !old.stale && !old.ends.at.IsZero() && len(old.shown.Owners) == 1 && !sameIDs(old.shown.Owners, p.Owners) &&
		r.got.After(old.ends.after) && old.ends.after.Sub(old.sent) > w.readHeartbeat.tolerance()
}

// longestDoubt is how long the end of a lease may wait for the proof that nothing was pushed.
const longestDoubt = 300 * time.Millisecond

// noteUnseen notes that a key may have been otherwise than it was told. One that was free may
// have been owned by somebody who is not seen: it was written to and not read promptly, or it
// is polled and was not read when that was due. One whose lease is over may have been renewed
// and given up.
func (w *watcher) noteUnseen(k *key, old previous, p *sources.Primitive, r *reading, n notice) {
	if old.stale || old.shown == nil || old.shown.OwnersHow == sources.Unknown {
		return
	}
	owned := len(old.shown.Owners) > 0
	if owned && !(w.tracks(k) && old.lastedUntilOver(p, r)) {
		return
	}
	from := old.sent
	switch {
	case !k.pushed && r.got.Sub(old.sent) <= 2*w.sampling():
		return
	case !k.pushed:
	case n.first.IsZero() && !owned:
		return
	case n.first.IsZero():
		if from = sources.Later(from, w.unpushedUntil(k)); !from.Before(old.ends.after) {
			return
		}
	case n.prompt(r.got, w.heartbeatOf(k).tolerance()):
		return
	default:
		from = sources.Later(from, n.floor)
	}
	w.unseen = append(w.unseen, sources.Unseen{Ref: k.shown.Ref, From: from, To: r.got})
}

// patience is how long a push may be behind what a read shows already.
const patience = 10 * time.Millisecond

// mayBePushed reports whether a difference should be looked at again in a moment, because
// a push that says more about it is probably on its way: the first one at all, or the event
// that explains why an owner is gone. A lease that ended is pushed by nobody.
func (w *watcher) mayBePushed(k *key, p *sources.Primitive, r *reading, n notice) bool {
	if !k.pushed || k.doubted || k.stale || w.starting() || !k.differs(p, r) {
		return false
	}
	if !n.first.IsZero() && (w.push.mode != modeEvents || !unexplained(k.shown, p, n)) {
		return false
	}
	return r.shape != missing || k.ends.at.IsZero() || r.got.Before(k.ends.at)
}

// unexplained reports whether an owner is gone and no event says why.
func unexplained(before, after *sources.Primitive, n notice) bool {
	return before != nil && len(before.Owners) == 1 && !sameIDs(before.Owners, after.Owners) && ending(before, after, n) == nil
}

// starting reports whether the first sweep is still running.
func (w *watcher) starting() bool { return w.sweep != nil && w.sweep.first }

// unread is p as it is known before anything was read: what is told of it afterwards was
// found, not made.
func unread(p *sources.Primitive) *sources.Primitive {
	return &sources.Primitive{
		Ref: p.Ref, Kind: p.Kind, Labels: p.Labels, Expected: p.Expected, ForgetAfter: p.ForgetAfter,
	}
}

// worthIt reports whether a key that was never seen belongs in the list.
func (w *watcher) worthIt(r rule, found *reading) bool {
	switch {
	case r.exact:
		return true
	case w.selected.guess:
		return found.shape == table || found.shape == text && found.size <= longestGuessed
	}
	return found.shape != missing
}

// relook is the pause before another look at a key that should be gone, or was in motion.
const relook = 5 * time.Millisecond

// schedule sets when k is looked at because its lease is over.
func (w *watcher) schedule(k *key, r *reading) {
	if k.ends.at.IsZero() {
		w.ends.set(k, time.Time{})
		return
	}
	at := k.ends.at.Add(tick)
	if eve := k.ends.after.Add(-w.readHeartbeat.tolerance() / 2); !k.pushed && eve.After(r.got) {
		at = eve // what is read then is the owner who lets the lease run out, see maybeRenewed
	} else if soonest := r.got.Add(relook); at.Before(soonest) && r.ttl <= tick {
		at = soonest
	}
	w.ends.set(k, at)
}

// report tells findings, those of the same time together, the earliest first.
func (w *watcher) report(list []finding) error {
	if unseen := w.unseen; len(unseen) > 0 {
		w.unseen = nil
		if err := w.Send(sources.Change{Unseen: unseen}); err != nil {
			return err
		}
	}
	for _, c := range changes(list) {
		if err := w.Send(c); err != nil {
			return err
		}
	}
	return nil
}
