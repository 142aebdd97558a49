package redissource

import (
	"coordtop/internal/glob"
	"coordtop/sources/redissource/lockformat"
)

// pushPlan is what the server is asked to push.
type pushPlan struct {
	prefixes []string // to track; none: only keys can be tracked, one by one
	all      bool     // they cover every selection
	patterns []string // of keyspace events: none, or they cover every selection
	why      string   // not all
	keys     bool     // not all, but keys can be tracked one by one
}

// pushPlan returns what to ask the server for. guessed are the names that a scan found
// where nothing was selected.
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

// mostPatterns bounds how many patterns are subscribed to: the server compares every event
// with all of them.
const mostPatterns = 32

func patternsOf(prefixes []string) []string {
	list := make([]string, len(prefixes))
	for i, p := range prefixes {
		list[i] = glob.Escape(p) + "*"
	}
	return list
}

// guessedPlan tracks what the names of locks begin with. Those known as locks only by their
// value are tracked one by one, or polled.
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
