package redissource

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

// search is the progress of the passes over all keys. Each sweep continues where the last one stopped.
type search struct {
	cursor uint64        // where the next sweep starts; 0 for the beginning
	began  time.Time     // start of the running pass
	passed int           // keys scanned in that pass
	listed time.Time     // start of the last complete pass
	took   time.Duration // length of the last complete pass
	whole  bool          // at least one pass was complete
	ages   bool          // a read protects a key from eviction
	typed  bool          // TYPE was tried
	random bool          // HRANDFIELD was tried
}

func (c *search) begin(s *sweep) {
	if s.cursor = c.cursor; s.cursor == 0 {
		c.began, c.passed = s.started, 0
	}
}

func (c *search) finish(s *sweep, now time.Time) {
	c.passed += s.scanned
	if c.cursor = s.cursor; s.cut {
		return
	}
	c.cursor, c.whole, c.listed, c.took = 0, true, c.began, now.Sub(c.began)
}

// readsValues reports whether this pass reads keys whose names have no word for a lock. If reading protects keys from
// eviction, only the first pass does.
func (c *search) readsValues() bool { return !c.ages || !c.whole }

// progress returns the progress of the first pass, in words, or "" if that is complete. total is the number of keys, or
// 0 if unknown.
func (c *search) progress(s *sweep, total int, now time.Time) string {
	passed := c.passed
	if s != nil && s.searches {
		passed += s.scanned
	}
	switch took := now.Sub(c.began); {
	case c.whole:
		return ""
	case total == 0:
		return fmt.Sprintf("about %s keys were looked at so far", format.Count(passed))
	case passed == 0 || passed >= total:
		return fmt.Sprintf("sweep at %d %%", min(100*passed/total, 99))
	default:
		return fmt.Sprintf("sweep at %d %%, about %s left", 100*passed/total, format.Age(time.Duration(float64(took)*float64(total-passed)/float64(passed))))
	}
}

// load limits the CPU that sweeps cost the server to a share of one core.
type load struct {
	due   time.Time     // of the next round trip
	spent time.Duration // on round trips since the server's CPU time was last read
	used  time.Duration // the server's CPU time when it was last read; 0 if never
	part  float64       // part of a round trip that is CPU; 0 if unknown, which counts as all
}

const (
	// askEvery is the time spent on round trips after which the server's CPU time is read again.
	askEvery = 100 * time.Millisecond
	// mostLate bounds by how much the excess of one rest shortens the next one.
	mostLate = 100 * time.Millisecond
	// margin is the part of the share for round trips of sweeps; pings and other commands have the rest.
	margin = 0.8
)

// rest returns the time of the next round trip, after one that took the given time. Only the part of it counts that the
// server, for all its clients, can have used as CPU time.
func (l *load) rest(took time.Duration, w *watcher) (time.Time, error) {
	if l.spent += took; l.spent >= askEvery || l.used == 0 {
		used, err := w.link.cpu()
		if err != nil {
			return time.Time{}, err
		}
		if l.used > 0 && used > l.used {
			l.part = min(max(float64(used-l.used)/float64(l.spent), 0.02), 1)
		}
		l.spent, l.used = 0, used
	}
	cost := float64(took)
	if l.part > 0 {
		cost *= l.part
	}
	l.due = sources.Later(l.due, time.Now().Add(-mostLate)).Add(time.Duration(cost / (margin * w.link.o.Share)))
	return l.due, nil
}

// cpu returns the CPU time that the server has used, or 0 if unknown.
func (l *link) cpu() (time.Duration, error) {
	info, err := l.info("cpu")
	user, _ := time.ParseDuration(info["used_cpu_user"] + "s")
	system, _ := time.ParseDuration(info["used_cpu_sys"] + "s")
	return user + system, err
}

// info returns a section of the server's INFO, or an empty map if that is refused.
func (l *link) info(section string) (map[string]string, error) {
	text, err := rediscoord.Once(l.refusals(), "info", func() (string, error) { return l.conn.Info(l.Context(), section).Result() })
	if fatal(err) {
		return nil, err
	}
	facts := make(map[string]string)
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		facts[key] = value
	}
	return facts, nil
}

// mostPeeked is the length of the part of a value that is read to find out whether it may be a lock's, in bytes. No
// nonce is as long.
const mostPeeked = 64

// peek returns those keys that may be locks, judging by a part of their values. It does not read keys of a type that no
// lock has, so that the server counts no errors.
func (w *watcher) peek(ctx context.Context, names []string) ([]string, error) {
	types := make([]*redis.StatusCmd, len(names))
	pipe := w.link.conn.Pipeline()
	if w.link.refusals().Refused("type") == nil {
		for i, name := range names {
			types[i] = pipe.Type(ctx, name)
		}
		if _, _, err := exec(ctx, pipe); err != nil {
			return nil, err
		}
	}
	parts := make([]redis.Cmder, len(names))
	var locks []string
	hashes, start := 0, time.Now()
	for i, name := range names {
		typ := lockformat.String
		if types[i] != nil && types[i].Err() == nil {
			typ = lockformat.Type(types[i].Val())
		}
		switch typ {
		case lockformat.String:
			parts[i] = pipe.GetRange(ctx, name, 0, mostPeeked-1)
		case lockformat.Hash:
			if hashes++; w.link.refusals().Refused("hrandfield") != nil || hashes > 1 && !w.search.random {
				locks = append(locks, name) // it may be a lock, so read all of it
			} else {
				parts[i] = pipe.HRandField(ctx, name, 1)
			}
		case lockformat.SortedSet:
			parts[i] = pipe.ZRange(ctx, name, 0, 0)
		}
	}
	if _, _, err := exec(ctx, pipe); err != nil {
		return nil, err
	}
	w.link.readAnswered(start)
	w.search.typed, w.search.random = true, w.search.random || hashes > 0
	for i, part := range parts {
		r, _ := w.ruleOf(names[i])
		switch hash := part != nil && part.Name() == "hrandfield"; {
		case part == nil:
		case hash && part.Err() != nil && part.Err() != redis.Nil:
			w.link.refusals().Note("hrandfield", part.Err())
			locks = append(locks, names[i])
		case redis.IsPermissionError(part.Err()):
			w.guess.deny(names[i])
		case lockformat.Suggests(names[i], decode(part), r.kind):
			locks = append(locks, names[i])
		}
		if part != nil && part.Err() == nil && types[i] != nil {
			w.link.refusals().Note("type", types[i].Err()) // the key may be read, so a refusal concerns the command
		}
	}
	return locks, nil
}

// partial returns About.Partial and About.LeftOut.
func (w *watcher) partial(now time.Time) (sources.Partial, string) {
	denied := 0
	if w.refused {
		for _, k := range w.keys {
			if !k.rule.guessed && (k.denied || k.shown.noRight) {
				denied++
			}
		}
		w.refused = denied > 0
	}
	switch {
	case w.status.noScan:
		return sources.Refused, "no right to scan for patterns: give the user +scan"
	case denied > 0:
		return sources.Refused, fmt.Sprintf("no right to read %s of the keys that were named: their notes name it", format.Count(denied))
	case w.capacity.full:
		return sources.TooMany, w.capacity.warnings(len(w.keys))[0]
	case w.search.whole || w.link.selected.scanPattern() == "" && !w.link.selected.guess:
		return sources.Whole, ""
	}
	return sources.Reading, w.searching(now)
}

// searching returns a sentence about the progress of the search, and how to avoid it.
func (w *watcher) searching(now time.Time) string {
	text := "sweep"
	if w.link.selected.guess {
		text = "guessed " + format.Count(len(w.keys))
	}
	if w.status.total > 0 {
		text += " of " + format.Count(max(int(w.status.total), len(w.keys))) + " keys"
	} else if w.link.selected.guess {
		text += " keys"
	}
	if progress := w.search.progress(w.listing.sweep, int(w.status.total), now); progress != "" && w.link.selected.guess {
		text += ", " + progress
	} else if progress != "" {
		text += strings.TrimPrefix(", "+progress, ", sweep")
	}
	return text + ": " + howToName
}

const howToName = "name them with ?keys="
