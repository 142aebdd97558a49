package pgsource

import (
	"errors"
	"strings"

	"coordtop/coord/pgcoord"
	"coordtop/sources"
)

// rule is one Selection.
type rule struct {
	name     string // Ref.Name: the name, or the number in its canonical form
	key      pgcoord.Key
	sql      string // with which the server computes the key of the name; "" if the key is known
	named    bool   // the selection is a name, not a number
	kind     sources.Kind
	expected bool
}

// selection is the compiled form of Options.Selections. It is never changed.
type selection struct {
	all   bool // locks that no rule selects are also shown
	rules []rule
}

func compile(list []Selection, scheme pgcoord.Scheme) (*selection, error) {
	s := &selection{all: len(list) == 0}
	seen := map[string]bool{}
	for _, l := range list {
		if l.Pattern == everything {
			s.all = true
			continue
		}
		r, err := compileOne(l, scheme)
		if err != nil {
			return nil, err
		}
		if !seen[r.name] {
			seen[r.name] = true
			s.rules = append(s.rules, r)
		}
	}
	return s, nil
}

func compileOne(l Selection, scheme pgcoord.Scheme) (rule, error) {
	if l.Kind == sources.KindSemaphore {
		return rule{}, errors.New("an advisory lock is no semaphore: name it as election or mutex")
	}
	key, named, err := pgcoord.ParseKey(l.Pattern)
	if err != nil {
		return rule{}, err
	}
	r := rule{name: key.String(), key: key, named: named, kind: l.Kind, expected: l.Expected}
	if r.kind == sources.KindUnknown {
		r.kind = sources.KindMutex
	}
	if named {
		r.name = l.Pattern
		r.key, r.sql = scheme.Key(l.Pattern)
	}
	return r, nil
}

// parseNames parses Options.Names.
func parseNames(list map[string]string) (map[pgcoord.Key]string, error) {
	names := make(map[pgcoord.Key]string, len(list))
	for text, name := range list {
		key, named, err := pgcoord.ParseKey(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if named {
			return nil, errors.New("a name stands at what is no number of a lock: write the number as 4242 or 17:4")
		}
		names[key] = name
	}
	return names, nil
}
