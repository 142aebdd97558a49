package redissource

import (
	"coordtop/internal/ground/glob"
	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
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
	glob     glob.Pattern
	name     string // of an exact one; else the literal prefix
	exact    bool
	kind     sources.Kind
	expected bool
	guessed  bool // nobody named it
	byValue  bool // its name says nothing
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

// find returns the rule that selects name: its own before a pattern's, else the first. A
// pattern selects no name that itself proves who owns another key. Where nothing is selected no
// key is that only stands beside a lock, and wants decides on a name that says nothing.
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

// wants reports whether a key that was never seen, and was read now, belongs in the list.
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
	return glob.Escape(common) + "*"
}
