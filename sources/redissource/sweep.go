package redissource

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/sources"
)

// sweep is one pass over everything: all that is known is read, and what is not known is
// looked for. It advances in small steps, so that pushes never wait for it.
type sweep struct {
	first       bool // after a connect: ends with Synced
	discover    bool // only what is not known yet is read
	started     time.Time
	rest        time.Time // no step before this
	pending     []string  // to read
	scanning    bool
	pattern     string // to scan with; "": all keys
	cursor      uint64
	retries     int           // keys that would not stand still, which a first sweep must not leave out
	scanned     int           // keys that were passed, in pages of scanCount
	cost        time.Duration // of all steps
	cut         bool          // given up before the end
	readByValue int           // keys whose names say nothing
}

const (
	scanCount = 1000

	// guessTime bounds the work of one sweep for what nobody selected, see also Options.guessKeys.
	guessTime = 2 * time.Second

	mostRetries = 10_000
)

func (w *watcher) newSweep(first bool) *sweep {
	w.denials.begin(w.keys)
	s := &sweep{first: first, started: time.Now(), pattern: w.selected.scanPattern()}
	s.scanning = (s.pattern != "" || w.selected.guess) && !w.noScan
	s.cut = w.noScan
	for name := range w.selected.exact {
		s.pending = append(s.pending, name)
	}
	slices.Sort(s.pending)
	if w.selected.guess {
		w.guess.begin(s)
		w.guess.recount(w.keys)
	}
	for name, k := range w.keys {
		if !k.rule.exact {
			s.pending = append(s.pending, name)
		}
	}
	return s
}

// beginResync starts a sweep against what no push told.
func (w *watcher) beginResync(ctx context.Context) error {
	role, err := askRole(ctx, w.conn, w.refusals())
	if err != nil {
		return err
	}
	if role != w.server.role {
		return sources.Passing(nil, "the server was a %s and is a %s now", w.server.role, role)
	}
	if w.unasked && len(w.keys) > 0 {
		if err := w.askForPushes(ctx, slices.Collect(maps.Keys(w.keys))); err != nil {
			return err
		}
	}
	w.sweep, w.again, w.checks.lossy = w.newSweep(false), false, false
	return nil
}

// beginDiscovery starts a sweep for new names only, where they are not pushed.
func (w *watcher) beginDiscovery() {
	w.sweep = w.newSweep(false)
	w.sweep.discover, w.sweep.pending = true, nil
}

// step does one round trip of the sweep. All but the first are spread: they take a
// fifth of the time at most.
func (s *sweep) step(ctx context.Context, w *watcher) error {
	start := time.Now()
	if err := s.advance(ctx, w); err != nil {
		return err
	}
	took := time.Since(start)
	s.cost += took
	if !s.first {
		s.rest = start.Add(5 * took)
	}
	return nil
}

func (s *sweep) advance(ctx context.Context, w *watcher) error {
	if len(s.pending) > 0 {
		n := min(chunk, len(s.pending))
		names := slices.DeleteFunc(s.pending[:n:n], func(name string) bool { return !s.wants(w.keys[name]) })
		s.pending = s.pending[n:]
		return w.look(ctx, names, nil)
	}
	if s.scanning {
		return s.scan(ctx, w)
	}
	w.sweep = nil
	return w.finish(s)
}

// wants reports whether the sweep still has to read k, which is nil if it is not known.
func (s *sweep) wants(k *key) bool {
	return k == nil || k.stale || !s.discover && k.sent.Before(s.started)
}

// scan reads one page of names.
func (s *sweep) scan(ctx context.Context, w *watcher) error {
	start := time.Now()
	var cursor uint64
	names, err := rediscoord.Once(w.refusals(), "scan", func() (names []string, err error) {
		names, cursor, err = w.conn.Scan(ctx, s.cursor, s.pattern, scanCount).Result()
		return names, err
	})
	if redis.IsPermissionError(err) {
		w.noScan, s.scanning, s.cut = true, false, true
		return nil
	}
	if err != nil {
		return err
	}
	w.readAnswered(start)
	for _, name := range names {
		if w.selected.guess {
			lock, byValue := w.guess.lockOf(name)
			if byValue && lock == name && w.keys[name] == nil && !w.guess.choose(s, name, int(w.total)) {
				continue
			}
			name = lock
		}
		k := w.keys[name]
		if _, ok := w.selected.find(name); ok && s.wants(k) && (k != nil || w.capacity.fits(name)) {
			s.pending = append(s.pending, name)
		}
	}
	s.cursor = cursor
	s.scanned += scanCount
	s.scanning = cursor != 0
	if s.scanning && (w.capacity.full || s.scanned >= mostScanned) {
		s.scanning, s.cut, w.capacity.full = false, true, true
	}
	if w.selected.guess && s.scanning && (s.first && s.scanned >= w.o.guessKeys || s.elapsed() >= guessTime) {
		s.scanning, s.cut = false, true
	}
	return nil
}

// elapsed is how long the sweep has worked; the first one works without a rest.
func (s *sweep) elapsed() time.Duration {
	if s.first {
		return time.Since(s.started)
	}
	return s.cost
}

// finish draws the conclusions of a complete sweep.
func (w *watcher) finish(s *sweep) error {
	now := time.Now()
	if w.selected.guess {
		w.complete, w.listed = w.guess.finish(s)
	} else if w.complete = !s.cut; w.complete {
		w.listed = s.started
	}
	if w.unasked && len(w.keys) > 0 {
		w.resyncSoon()
	}
	w.poll.discoverAt = now.Add(w.poll.pace(s.cost, w.o.PollMin, w.o.Resync))
	if s.discover {
		return w.describe()
	}
	w.dataLost = false
	w.resync = now.Add(w.o.Resync - w.o.Resync/10 + rand.N(w.o.Resync/5+1)) // many watchers do not come at once
	if w.again || s.first && w.guess.cursor != 0 {
		w.resync = now
	}
	if err := w.forget(now); err != nil {
		return err
	}
	if w.selected.guess {
		if err := w.countKeys(); err != nil {
			return err
		}
	}
	if s.first && len(w.keys) > 0 && !slices.ContainsFunc(slices.Collect(maps.Values(w.keys)), func(k *key) bool { return !k.denied }) {
		return errNoRead
	}
	if err := w.describe(); err != nil || !s.first {
		return err
	}
	return w.Send(sources.Change{Synced: true})
}

// mostFree bounds how many keys without an owner are remembered.
const mostFree = 100_000

// forget drops keys that nobody has owned for long.
func (w *watcher) forget(now time.Time) error {
	var free []*key
	for _, k := range w.keys {
		if !k.free.IsZero() && k.forgetAfter(w.o.Forget) != never {
			free = append(free, k)
		}
	}
	slices.SortFunc(free, func(a, b *key) int { return a.free.Compare(b.free) })
	var gone []sources.Ref
	for i, k := range free {
		if now.Sub(k.free) < w.o.Forget && len(free)-i <= mostFree {
			break
		}
		gone = append(gone, k.shown.Ref)
		w.capacity.remove(k)
		w.unwatch(k)
	}
	if len(gone) == 0 {
		return nil
	}
	w.poll.names = slices.DeleteFunc(slices.Clone(w.poll.names), func(name string) bool { return w.keys[name] == nil })
	return w.Send(sources.Change{Gone: gone})
}
