package redissource

import (
	"strings"

	"coordtop/internal/glob"
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
	glob     glob.Pattern
	name     string // of an exact one; else the literal prefix
	exact    bool
	kind     sources.Kind
	expected bool
	guessed  bool // nobody named it
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
// pattern does not select a name that itself proves who owns another key.
func (s *selection) find(name string) (rule, bool) {
	if namesOwner(name) {
		r, ok := s.exact[name]
		return r, ok
	}
	if s.guess {
		end, kind := lockPart(name)
		return rule{kind: kind, guessed: true}, end > 0 && !companion(name)
	}
	if r, ok := s.exact[name]; ok {
		return r, true
	}
	for _, r := range s.globs {
		if r.glob.Match(name) {
			return r, true
		}
	}
	return rule{}, false
}

// wants reports whether a key that was never seen, and was read now, belongs in the list.
func (s *selection) wants(r rule, found *reading) bool {
	switch {
	case r.exact:
		return true
	case s.guess:
		return found.shape == table || found.shape == text && found.size <= longestGuessed
	}
	return found.shape != missing
}

// namesOwner reports whether a name ends like those beside Redisson's read-write lock: with
// the field of the lock's hash, which whoever knows it can release the lock with.
func namesOwner(name string) bool {
	const mark = ":rwlock_timeout:"
	at := strings.LastIndex(name, mark)
	return at >= 0 && isCount([]byte(name[at+len(mark):]))
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
