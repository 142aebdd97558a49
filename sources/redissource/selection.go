package redissource

import (
	"coordtop/sources"
)

// selection is the compiled form of Options.Selections. It is never changed and may be
// used from any goroutine.
type selection struct {
	rules []rule
	exact map[string]rule
	globs []rule // those that are not names
	guess bool   // nothing was selected
}

// rule is one Selection.
type rule struct {
	glob     glob
	name     string // of an exact one; else the literal prefix
	exact    bool
	kind     sources.Kind
	expected bool
}

func compile(list []Selection) *selection {
	s := &selection{exact: make(map[string]rule), guess: len(list) == 0}
	for _, l := range list {
		r := rule{glob: glob(l.Pattern), kind: l.Kind, expected: l.Expected}
		r.name, r.exact = r.glob.literal()
		if !r.exact {
			s.globs = append(s.globs, r)
		} else if _, twice := s.exact[r.name]; !twice {
			s.exact[r.name] = r
		} else {
			continue
		}
		s.rules = append(s.rules, r)
	}
	return s
}

// find returns the rule that selects name: its own before a pattern's, else the first.
func (s *selection) find(name string) (rule, bool) {
	if s.guess {
		end, kind := lockPart(name)
		return rule{kind: kind}, end > 0
	}
	if r, ok := s.exact[name]; ok {
		return r, true
	}
	for _, r := range s.globs {
		if r.glob.match(name) {
			return r, true
		}
	}
	return rule{}, false
}

// audience is what the server is asked to push.
type audience struct {
	prefixes []string // to track; none: nothing can be tracked
	all      bool     // they cover every selection
	patterns []string // of keyspace events: none, or they cover every selection
	why      string   // not all
}

// audience returns what to ask the server for. guessed are the names that a scan found
// where nothing was selected.
func (s *selection) audience(guessed []string) audience {
	if s.guess {
		return guessedAudience(guessed)
	}
	a := audience{all: true}
	var from []string
	for _, r := range s.rules {
		a.patterns = append(a.patterns, string(r.glob))
		if r.name != "" {
			from = append(from, r.name)
		} else {
			a.all, a.why = false, "a pattern whose variable part comes first cannot be tracked"
		}
	}
	if len(from) > 0 {
		var ok bool
		if a.prefixes, ok = prefixes(from); !ok {
			a.all, a.why = false, "the selected names have too little in common to be tracked"
		}
	}
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
		list[i] = escape(p) + "*"
	}
	return list
}

func guessedAudience(names []string) audience {
	if len(names) == 0 {
		return audience{why: "no key looks like a lock yet, so there is nothing to track"}
	}
	from := make([]string, len(names))
	for i, name := range names {
		from[i] = guessedPrefix(name)
	}
	list, ok := prefixes(from)
	if !ok {
		return audience{why: "the guessed names have too little in common to be tracked"}
	}
	return audience{prefixes: list, all: true, patterns: patternsOf(list)}
}

// scanPattern returns the one pattern to scan with so that every key of the patterns is
// found in one pass; "": there are no patterns.
func (s *selection) scanPattern() string {
	switch len(s.globs) {
	case 0:
		return ""
	case 1:
		return string(s.globs[0].glob)
	}
	common := s.globs[0].name
	for _, r := range s.globs[1:] {
		n := 0
		for n < min(len(common), len(r.name)) && common[n] == r.name[n] {
			n++
		}
		common = common[:n]
	}
	return escape(common) + "*"
}
