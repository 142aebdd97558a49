package redissource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/glob"
	"coordtop/sources/redissource/lockformat"
)

// negotiatePush opens the best push connection that the server allows. It prefers one for all keys to one for some, and
// keyspace events, which report causes, to tracking keys one by one. c is nil if only polling is possible; reasons has
// the reasons why a better mode was not. It does not try modes in broken. If it returns an error, the read connection
// has ended.
func (l *link) negotiatePush(ctx context.Context, p pushPlan, broken map[string]string) (c *pushConn, reasons []string, err error) {
	mayTrack, mayHear := broken[modeTracking] == "", broken[modeEvents] == ""
	switch {
	case !p.all:
		reasons = append(reasons, p.why)
	case mayTrack:
		c, reason, err := l.track(ctx, p)
		if c != nil || err != nil {
			return c, nil, err
		}
		reasons = append(reasons, reason)
	}
	if len(p.patterns) > 0 && mayHear {
		c, reason, err := l.tryEvents(ctx, p.patterns)
		if c != nil || err != nil {
			return c, nil, err
		}
		reasons = append(reasons, reason)
	}
	if !mayTrack || p.all || len(p.prefixes) == 0 && !p.keys {
		return nil, reasons, nil
	}
	c, reason, err := l.track(ctx, p)
	if err != nil || c == nil {
		return nil, append(reasons, reason), err
	}
	if reason, err = l.trackKeys(ctx, c); err == nil && reason == "" {
		c.byKey = true
		return c, reasons, nil
	}
	if err != nil || len(p.prefixes) == 0 { // nothing would be pushed
		l.leave(c)
		c = nil
	}
	return c, append(reasons, reason), err
}

// track tries tracking over RESP3, then over RESP2. reason is the server's refusal of the first.
func (l *link) track(ctx context.Context, p pushPlan) (c *pushConn, reason string, err error) {
	if err := l.refusals().Refused("client|caching"); err != nil && len(p.prefixes) == 0 {
		return nil, refusedByKey(err), nil
	}
	kinds := []func(context.Context, pushPlan) (*pushConn, error){l.track3, l.track2}
	if l.o.Client.Protocol == 2 {
		kinds = kinds[1:]
	}
	for i, try := range kinds {
		c, err := rediscoord.Once(l.refusals(), fmt.Sprintf("tracking %d", i), func() (*pushConn, error) { return try(ctx, p) })
		if err == nil {
			return c, "", nil
		}
		var refused redis.Error
		if !errors.As(err, &refused) {
			return nil, "", err
		}
		reason = cmp.Or(reason, "tracking is refused: "+refused.Error())
	}
	return nil, reason, nil
}

// tryEvents subscribes to keyspace events if the server is configured to send them. The
// configuration is only read, never changed.
func (l *link) tryEvents(ctx context.Context, patterns []string) (c *pushConn, reason string, err error) {
	var refused redis.Error
	flags, err := l.eventFlags(ctx)
	switch {
	case errors.As(err, &refused):
		return nil, "whether keyspace events are on cannot be read (right +config|get)", nil
	case err != nil:
		return nil, "", err
	}
	if !enoughEvents(flags) {
		return nil, fmt.Sprintf("keyspace events are off or too few: notify-keyspace-events is %q, Kg$xe would do", flags), nil
	}
	c, err = rediscoord.Once(l.refusals(), "psubscribe", func() (*pushConn, error) { return l.events(ctx, patterns) })
	switch {
	case err == nil:
		return c, "", nil
	case errors.As(err, &refused):
		return nil, "keyspace events are refused: " + refused.Error(), nil
	}
	return nil, "", err
}

// eventFlags returns the server's notify-keyspace-events.
func (l *link) eventFlags(ctx context.Context) (string, error) {
	const name = "notify-keyspace-events"
	config, err := rediscoord.Once(l.refusals(), "config|get", func() (map[string]string, error) { return l.conn.ConfigGet(ctx, name).Result() })
	return config[name], err
}

// enoughEvents reports whether this notify-keyspace-events covers every write and end of a string.
func enoughEvents(flags string) bool {
	return strings.Contains(flags, "K") && (strings.Contains(flags, "A") ||
		strings.Contains(flags, "g") && strings.Contains(flags, "$") && strings.Contains(flags, "x"))
}

// pushPlan lists what the server shall push.
type pushPlan struct {
	prefixes []string // to track; if empty, keys can only be tracked one by one
	all      bool     // prefixes cover every selection
	patterns []string // of keyspace events; either none, or they cover every selection
	why      string   // the reason if not all
	keys     bool     // prefixes do not cover all, but keys can be tracked one by one
}

// pushPlan returns the plan for the selection. guessed has the names that a scan found if nothing was selected.
func (s *selection) pushPlan(guessed []string) pushPlan {
	if s.guess {
		return guessedPlan(guessed)
	}
	a := pushPlan{all: true}
	var from []string
	for _, r := range s.rules {
		a.patterns = append(a.patterns, string(r.glob))
		if r.name != "" {
			from = append(from, r.name)
		} else {
			a.all, a.why = false, "the variable part comes first in a pattern"
		}
	}
	if len(from) > 0 {
		var ok bool
		if a.prefixes, ok = prefixes(from); !ok {
			a.all, a.why = false, "the selected names have too little in common"
		}
	}
	a.keys = !a.all
	if len(a.patterns) > mostPatterns {
		a.patterns = nil
		if a.all {
			a.patterns = patternsOf(a.prefixes)
		}
	}
	return a
}

// mostPatterns is the maximum number of subscribed patterns, because the server compares every event with all of them.
const mostPatterns = 32

func patternsOf(prefixes []string) []string {
	list := make([]string, len(prefixes))
	for i, p := range prefixes {
		list[i] = glob.Escape(p) + "*"
	}
	return list
}

// guessedPlan returns a plan that tracks the prefixes of names with a word for a lock. Keys that are locks only by
// their value are tracked one by one, or polled.
func guessedPlan(names []string) pushPlan {
	var from []string
	for _, name := range names {
		if prefix := lockformat.Prefix(name); prefix != "" {
			from = append(from, prefix)
		}
	}
	if len(from) == 0 {
		return pushPlan{why: "no key looks like a lock yet", keys: len(names) > 0}
	}
	list, ok := prefixes(from)
	if !ok {
		return pushPlan{why: "the guessed names have too little in common", keys: true}
	}
	return pushPlan{prefixes: list, all: true, patterns: patternsOf(list)}
}

// mostPrefixes is the maximum number of tracked prefixes, because the server compares every written key with all of
// them.
const mostPrefixes = 8

// prefixes returns at most mostPrefixes literal prefixes such that every name begins with one of them. None is a prefix
// of another, because the server refuses that. If there are too many, they are cut after a separator, as late as
// possible, and never inside a part, because tracking "a" would push foreign keys. ok is false if that is impossible,
// or if a name is empty.
func prefixes(from []string) (list []string, ok bool) {
	if len(from) == 0 || slices.Contains(from, "") {
		return nil, false
	}
	names := withoutCovered(slices.Clone(from))
	if len(names) <= mostPrefixes {
		return names, true
	}
	list = []string{""}
	for i := 0; i < len(list); {
		var finer []string
		for _, name := range names {
			if rest, ok := strings.CutPrefix(name, list[i]); ok {
				finer = append(finer, list[i]+firstPart(rest))
			}
		}
		finer = slices.Compact(finer)
		if len(list)-1+len(finer) > mostPrefixes || finer[0] == list[i] { // a whole name
			i++
			continue
		}
		list = slices.Replace(list, i, i+1, finer...)
	}
	if list[0] == "" {
		return nil, false
	}
	return list, true
}

// withoutCovered sorts the list, and drops names that begin with another name.
func withoutCovered(list []string) []string {
	slices.Sort(list)
	kept := list[:0]
	for _, p := range list {
		if len(kept) == 0 || !strings.HasPrefix(p, kept[len(kept)-1]) {
			kept = append(kept, p)
		}
	}
	return kept
}

// firstPart returns a name up to its first separator, or the whole name.
func firstPart(name string) string {
	if i := strings.IndexAny(name, lockformat.Separators); i >= 0 {
		return name[:i+1]
	}
	return name
}

// covered reports whether name begins with one of the prefixes.
func covered(list []string, name string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(name, p) })
}
