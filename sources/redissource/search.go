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

// search is how far the passes over all keys have come: each sweep goes on where the one before
// it was cut.
type search struct {
	cursor uint64        // where the next sweep begins; 0: at the beginning
	began  time.Time     // of the pass that starts at the beginning
	passed int           // keys that it has passed
	listed time.Time     // began of the last one that came to its end
	took   time.Duration // that one
	whole  bool          // one came to its end
	ages   bool          // what is read is not evicted as it would be
	typed  bool          // the server was asked for a type, and of a hash for a field
	random bool
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

// anew has the next sweep begin at the beginning.
func (c *search) anew() { c.cursor = 0 }

// readsValues reports whether this pass reads keys whose names say nothing. Where that has the
// server keep what it would evict, only the first one does.
func (c *search) readsValues() bool { return !c.ages || !c.whole }

// progress says how far the first pass is, among total keys, 0: unknown. "": it came to its end.
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

// load keeps what sweeps cost the server to a share of one core.
type load struct {
	due   time.Time     // of the next round trip
	spent time.Duration // on round trips since the server was asked for its CPU
	used  time.Duration // of that, when it was asked; 0: never
	part  float64       // of a round trip is its CPU; 0: not known, all of it
}

const (
	// askEvery is how much is spent on round trips until the server is asked again for its CPU.
	askEvery = 100 * time.Millisecond
	// mostLate is how much of a rest that was too long is made up for.
	mostLate = 100 * time.Millisecond
	// margin of a share is for round trips, the rest for pings and questions.
	margin = 0.8
)

// rest is until when to rest after a round trip that took so long, of which no more counts than
// can have been CPU of the server, with what others made it use.
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

// cpu is how much the server has used; 0: it does not say.
func (l *link) cpu() (time.Duration, error) {
	info, err := l.info("cpu")
	user, _ := time.ParseDuration(info["used_cpu_user"] + "s")
	system, _ := time.ParseDuration(info["used_cpu_sys"] + "s")
	return user + system, err
}

// info is a section of what the server says of itself; empty where it is refused.
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

// mostPeeked is how much of a value is read to see whether it may be a lock's: more than any nonce.
const mostPeeked = 64

// peek returns those of these keys, whose names say nothing, that may be locks by a part of their
// values. Only what has a type that a lock has is read, so that the server counts no error.
func (w *watcher) peek(ctx context.Context, names []string) ([]string, error) {
	types := make([]*redis.StatusCmd, len(names))
	pipe := w.link.conn.Pipeline()
	if w.link.refusals().Refused("type") == nil {
		for i, name := range names {
			types[i] = pipe.Type(ctx, name)
		}
		if err := exec(ctx, pipe); err != nil {
			return nil, err
		}
	}
	parts := make([]redis.Cmder, len(names))
	var locks []string
	hashes, start := 0, time.Now()
	for i, name := range names {
		typ := string(lockformat.String)
		if types[i] != nil && types[i].Err() == nil {
			typ = types[i].Val()
		}
		switch lockformat.Type(typ) {
		case lockformat.String:
			parts[i] = pipe.GetRange(ctx, name, 0, mostPeeked-1)
		case lockformat.Hash:
			if hashes++; w.link.refusals().Refused("hrandfield") != nil || hashes > 1 && !w.search.random {
				locks = append(locks, name) // maybe: all of it is read
			} else {
				parts[i] = pipe.HRandField(ctx, name, 1)
			}
		case lockformat.SortedSet:
			parts[i] = pipe.ZRange(ctx, name, 0, 0)
		}
	}
	if err := exec(ctx, pipe); err != nil {
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
		case lockformat.Suggests(names[i], partOf(part), r.kind):
			locks = append(locks, names[i])
		}
		if part != nil && part.Err() == nil && types[i] != nil {
			w.link.refusals().Note("type", types[i].Err()) // the key may be read, so it is the command
		}
	}
	return locks, nil
}

// partOf is the part of a value that was peeked at.
func partOf(part redis.Cmder) *lockformat.Content {
	switch part := part.(type) {
	case *redis.StringCmd:
		return &lockformat.Content{Type: lockformat.String, Text: []byte(part.Val()), Size: len(part.Val())}
	case *redis.StringSliceCmd:
		c := &lockformat.Content{Type: lockformat.SortedSet}
		if part.Name() == "hrandfield" {
			c.Type = lockformat.Hash
		}
		for _, text := range part.Val() {
			c.Members = append(c.Members, lockformat.Member{Text: text})
		}
		return c
	}
	return &lockformat.Content{}
}

// partial says what the listing leaves out, for sources.About.
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

// searching says how far the search is, and what spares it.
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
