package redissource

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
