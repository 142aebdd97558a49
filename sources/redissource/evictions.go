package redissource

import (
	"strconv"
	"strings"
	"time"

	"coordtop/sources"
)

// evictions counts the keys that the server dropped because its memory is full. The server reports only their number.
type evictions struct {
	policy string    // maxmemory-policy, if it can make the server drop keys; else ""
	count  int       // evicted_keys as last read
	seen   time.Time // when count was last found to have grown; zero if never
}

// askPolicy reads whether the server may drop keys.
func (w *watcher) askPolicy() error {
	memory, err := w.link.info("memory")
	w.evictions.policy = memory["maxmemory_policy"]
	if memory["maxmemory"] == "0" || w.evictions.policy == "noeviction" {
		w.evictions.policy = ""
	}
	w.search.ages = w.link.server.touches && (strings.HasSuffix(w.evictions.policy, "lru") || strings.HasSuffix(w.evictions.policy, "lfu"))
	if err == nil && w.evictions.count == 0 { // earlier evictions do not count
		err = w.countEvictions()
		w.evictions.seen = time.Time{}
	}
	return err
}

// countEvictions reads the number of dropped keys, unless the policy drops none.
func (w *watcher) countEvictions() error {
	if w.evictions.policy == "" {
		return nil
	}
	stats, err := w.link.info("stats")
	if n, ok := strconv.Atoi(stats["evicted_keys"]); ok == nil && n != w.evictions.count {
		w.evictions.count, w.evictions.seen = n, time.Now()
	}
	return err
}

// endsIn reports whether one of these readings shows that an owner is gone.
func (w *watcher) endsIn(questions []question, readings []*reading) bool {
	for i, r := range readings {
		if k := w.keys[questions[i].name]; k != nil && k.shown.owners > 0 && r != nil && r.shape == missing {
			return true
		}
	}
	return false
}

// mayBeEvicted reports whether an owner is gone and the server may have dropped its key. countEvictions runs at least
// once a second.
func (w *watcher) mayBeEvicted(s *sight) bool {
	return s.r.shape == missing && !w.evictions.seen.IsZero() && s.ownersDiffer() && !s.lastedUntilOver() &&
		w.evictions.seen.After(sources.Earlier(s.when().after, s.r.got.Add(-2*checkEvery)))
}

func (e *evictions) warnings(ages bool) []string {
	if e.policy == "" {
		return nil
	}
	text := "when its memory is full the server drops keys, which may be locks (maxmemory-policy " + e.policy + "): an owner may be gone without a release"
	if ages {
		text += "; values under names that say nothing are read in one sweep only, because reading keeps them from being dropped"
	}
	return []string{text}
}
