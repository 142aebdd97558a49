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

// sweep is one pass over everything: it reads all known keys, and searches for unknown ones.
// It advances in small steps, so that pushes never wait for it.
type sweep struct {
	first    bool // the first after a connect, which ends with Synced
	discover bool // it reads only unknown keys
	started  time.Time
	rest     time.Time // no step before this
	pending  []string  // names to read
	nameless []string  // names without a word for a lock, to peek at
	searches bool      // it scans for keys
	scanning bool      // the scan is not complete
	pattern  string    // pattern of the scan; "" for all keys
	cursor   uint64
	retries  int           // keys that were written during each try, which a first sweep must not leave out
	scanned  int           // scanned keys, in pages of scanCount
	cost     time.Duration // of all steps
	cut      bool          // it stopped before the end of the scan
}

const (
	scanCount   = 1000
	mostRetries = 10_000
)

func (w *watcher) newSweep(first bool) *sweep {
	w.denials.begin(w.keys)
	s := &sweep{first: first, started: time.Now(), pattern: w.link.selected.scanPattern()}
	s.searches = s.pattern != "" || w.link.selected.guess
	s.scanning, s.cut = s.searches && !w.status.noScan, w.status.noScan
	s.pending = slices.Sorted(maps.Keys(w.link.selected.exact))
	w.search.begin(s)
	w.guess.recount(w.keys)
	for name, k := range w.keys {
		if !k.rule.exact {
			s.pending = append(s.pending, name)
		}
	}
	return s
}

// beginResync starts a sweep that finds changes not reported by a push.
func (w *watcher) beginResync(ctx context.Context) error {
	role, err := askRole(ctx, w.link.conn, w.link.refusals())
	if err != nil {
		return err
	}
	if role != w.link.server.role {
		return sources.Passing(nil, "the server was a %s and is a %s now", w.link.server.role, role)
	}
	if err := w.askPolicy(); err != nil {
		return err
	}
	if w.unasked && len(w.keys) > 0 {
		if err := w.askForPushes(ctx, slices.Collect(maps.Keys(w.keys))); err != nil {
			return err
		}
	}
	w.listing.sweep, w.listing.again, w.checks.lossy = w.newSweep(false), false, false
	return nil
}

// step makes one round trip of the sweep. Except in the first sweep, the steps are spread so that they stay within our
// share of the server.
func (s *sweep) step(ctx context.Context, w *watcher) error {
	start := time.Now()
	if err := s.advance(ctx, w); err != nil {
		return err
	}
	took := time.Since(start)
	s.cost += took
	if s.first {
		return nil
	}
	var err error
	s.rest, err = w.load.rest(took, w)
	return err
}

func (s *sweep) advance(ctx context.Context, w *watcher) error {
	switch {
	case len(s.pending) > 0:
		n := min(chunk, len(s.pending))
		names := slices.DeleteFunc(s.pending[:n:n], func(name string) bool { return !s.wants(w.keys[name]) })
		s.pending = s.pending[n:]
		return w.look(ctx, names, nil)
	case len(s.nameless) > 0:
		n := min(chunk, len(s.nameless))
		if !w.search.typed { // one key shows whether TYPE is refused
			n = 1
		}
		locks, err := w.peek(ctx, s.nameless[:n])
		s.nameless, s.pending = s.nameless[n:], locks
		return err
	case s.scanning && s.scanned > 0 && (s.first && s.scanned >= w.link.o.unspread || time.Since(s.started) >= w.link.o.Resync):
		s.scanning, s.cut = false, true // the next sweep continues there
	}
	if s.scanning {
		return s.scan(ctx, w)
	}
	w.listing.sweep = nil
	return w.finish(s)
}

// wants reports whether the sweep must still read k, which is nil for an unknown key.
func (s *sweep) wants(k *key) bool {
	return k == nil || k.stale || !s.discover && k.sent.Before(s.started)
}

// scan reads one page of names.
func (s *sweep) scan(ctx context.Context, w *watcher) error {
	start := time.Now()
	var cursor uint64
	names, err := rediscoord.Once(w.link.refusals(), "scan", func() (names []string, err error) {
		names, cursor, err = w.link.conn.Scan(ctx, s.cursor, s.pattern, scanCount).Result()
		return names, err
	})
	if redis.IsPermissionError(err) {
		w.status.noScan, s.scanning, s.cut = true, false, true
		return nil
	}
	if err != nil {
		return err
	}
	w.link.readAnswered(start)
	for _, name := range names {
		lock, byValue := name, false
		if w.link.selected.guess {
			lock, byValue = w.guess.lockOf(name)
		}
		k := w.keys[lock]
		switch _, ok := w.link.selected.find(lock); {
		case !ok || !s.wants(k) || k == nil && !w.capacity.fits(lock):
		case byValue && lock == name && k == nil:
			if w.search.readsValues() && w.guess.mayBeLock(lock) {
				s.nameless = append(s.nameless, lock)
			}
		default:
			s.pending = append(s.pending, lock)
		}
	}
	s.cursor = cursor
	s.scanned += scanCount
	s.scanning = cursor != 0
	if s.scanning && (w.capacity.full || s.scanned >= mostScanned) {
		s.scanning, s.cut, w.capacity.full = false, true, true
	}
	return nil
}

// quit stops a sweep because a person asked for a new one.
func (s *sweep) quit() {
	s.cut = s.cut || s.scanning
	s.scanning, s.pending, s.nameless, s.rest = false, nil, nil, time.Time{}
}

// finish ends a sweep, schedules the next one and sends its results.
func (w *watcher) finish(s *sweep) error {
	now := time.Now()
	w.search.finish(s, now)
	if w.listing.complete = w.search.whole; w.listing.complete {
		w.listing.listed = w.search.listed
	}
	w.guess.leftOutBefore, w.guess.leftOut = w.guess.leftOut, 0
	w.guess.refusedBefore, w.guess.refused = w.guess.refused, 0
	if w.unasked && len(w.keys) > 0 {
		w.resyncSoon()
	}
	w.poll.discoverAt = now.Add(w.poll.pace(s.cost, w.link.o.PollMin, w.link.o.Resync))
	if s.discover {
		return w.describe()
	}
	w.status.dataLost = false
	w.listing.resync = now.Add(w.link.o.Resync - w.link.o.Resync/10 + rand.N(w.link.o.Resync/5+1)) // spreads many watchers
	if w.listing.again || w.search.cursor != 0 && !w.capacity.full {
		w.listing.resync = now
	}
	if err := w.forget(now); err != nil {
		return err
	}
	if w.link.selected.guess || s.searches && !w.search.whole {
		if err := w.countKeys(); err != nil {
			return err
		}
	}
	if err := w.describe(); err != nil || !s.first {
		return err
	}
	return w.link.Send(sources.Change{Synced: true})
}

// mostFree is the maximum number of keys without an owner that are kept.
const mostFree = 100_000

// forget drops keys that had no owner for Options.Forget.
func (w *watcher) forget(now time.Time) error {
	var free []*key
	for _, k := range w.keys {
		if !k.free.IsZero() && k.forgetAfter(w.link.o.Forget) != never {
			free = append(free, k)
		}
	}
	slices.SortFunc(free, func(a, b *key) int { return a.free.Compare(b.free) })
	var gone []sources.Ref
	for i, k := range free {
		if now.Sub(k.free) < w.link.o.Forget && len(free)-i <= mostFree {
			break
		}
		gone = append(gone, w.ref(k.name))
		w.capacity.remove(k)
		w.unwatch(k)
	}
	if len(gone) == 0 {
		return nil
	}
	w.poll.names = slices.DeleteFunc(slices.Clone(w.poll.names), func(name string) bool { return w.keys[name] == nil })
	return w.link.Send(sources.Change{Gone: gone})
}
