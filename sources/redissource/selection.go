package redissource

import (
	"strings"

	"coordtop/internal/ground/glob"
	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

// selection is the compiled form of Options.Selections. It is immutable.
type selection struct {
	rules []rule
	exact map[string]rule
	globs []rule // the patterns
	guess bool   // nothing was selected
}

// rule is one Selection.
type rule struct {
	glob     glob.Pattern
	name     string // the whole name, or the literal prefix of a pattern
	exact    bool
	kind     sources.Kind
	expected bool
	guessed  bool // not selected by the configuration
	byValue  bool // the name has no word for a lock
}

func compile(list []Selection) *selection {
	s := &selection{exact: make(map[string]rule), guess: len(list) == 0}
	for _, l := range list {
		r := rule{glob: glob.Pattern(l.Pattern), kind: l.Kind, expected: l.Expected}
		r.name, r.exact = r.glob.Literal()
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

// find returns the rule that selects a name: the rule for exactly that name, else that of the first matching pattern. A
// pattern selects no name that contains the proof of another key's ownership. If nothing is configured, companions of a
// lock are not selected, and wants decides about names without a word for a lock.
func (s *selection) find(name string) (rule, bool) {
	if r, ok := s.exact[name]; ok {
		return r, true
	}
	if lockformat.NamesOwner(name) {
		return rule{}, false
	}
	if s.guess {
		if lock, known := lockformat.ByName(name); known && lock != name {
			return rule{}, false
		}
		return rule{guessed: true, byValue: lockformat.Prefix(name) == ""}, true
	}
	for _, r := range s.globs {
		if r.glob.Match(name) {
			return r, true
		}
	}
	return rule{}, false
}

// wants reports whether a key that was read for the first time belongs in the list.
func (s *selection) wants(name string, r rule, found *reading) bool {
	switch {
	case r.exact:
		return true
	case s.guess && (found.shape != table && found.shape != text || found.shape == text && found.size > longestGuessed):
		return false
	case r.byValue:
		return lockformat.ByValue(name, found.content(), r.kind)
	}
	return found.shape != missing
}

// scanPattern returns one pattern that covers all patterns, so that one pass finds all keys, or "" if there are no
// patterns.
func (s *selection) scanPattern() string {
	switch len(s.globs) {
	case 0:
		return ""
	case 1:
		return string(s.globs[0].glob)
	}
	common := s.globs[0].name
	for _, r := range s.globs[1:] {
		for !strings.HasPrefix(r.name, common) {
			common = common[:len(common)-1]
		}
	}
	return glob.Escape(common) + "*"
}
