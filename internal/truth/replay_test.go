package truth

import "time"

// replay applies the lines of a row one after the other: they must not contradict each
// other, and what they say of the time before must be true.
func (c *checker) replay(row string, lines []*line) {
	s := &shown{checker: c, row: row, owners: map[string]bool{}, waiters: map[string]bool{}}
	for _, l := range lines {
		s.apply(l)
	}
	s.same("owners", s.owners, presentIn(c.truth[row], begins, ends))
	s.same("waiters", s.waiters, presentIn(c.truth[row], joins, leaves))
}

func presentIn(changes []change, in, out deed) map[string]bool {
	h := newHistory()
	h.rows[""] = changes
	return h.present(in, out)[""]
}

// shown is a row as the lines show it.
type shown struct {
	*checker
	row     string
	owners  map[string]bool
	waiters map[string]bool
	ended   *line // the last that told an end; nil: none did
}

func (s *shown) same(what string, shown, truth map[string]bool) {
	for who := range shown {
		if !truth[who] {
			s.lie("wrong at the end", nil, "the %s of %s include %s", what, s.row, who)
		}
	}
	for who := range truth {
		if !shown[who] {
			s.lie("wrong at the end", nil, "the %s of %s do not include %s", what, s.row, who)
		}
	}
}

func (s *shown) apply(l *line) {
	if l.Event == "present" {
		s.present(l)
		return
	}
	for _, cl := range l.claims() {
		who := cl.who.Label
		switch cl.what {
		case begins:
			if len(s.owners) > 0 && !s.several || s.owners[who] {
				s.lie("contradiction", l, "%v own it by the lines before", keys(s.owners))
			}
			s.took(l)
			s.owners[who] = true
			delete(s.waiters, who)
		case ends:
			if !s.owners[who] {
				s.lie("wrong previous", l, "%v own it by the lines before", keys(s.owners))
			}
			delete(s.owners, who)
			s.ended = l
		case renews:
			if !s.owners[who] {
				s.lie("contradiction", l, "%v own it by the lines before", keys(s.owners))
			}
		case joins:
			if s.waiters[who] {
				s.lie("contradiction", l, "it waited already")
			}
			s.waiters[who] = true
		case leaves:
			if !s.waiters[who] {
				s.lie("contradiction", l, "it did not wait")
			}
			delete(s.waiters, who)
		}
	}
}

// present judges what is told of the time before the first look.
func (s *shown) present(l *line) {
	first := map[string]bool{}
	for _, t := range s.truth[s.row] {
		if t.first && t.what == begins {
			first[t.who] = true
		}
	}
	switch {
	case l.Owner == nil && len(first) > 0:
		s.lie("wrong owner", l, "it was owned by %v", keys(first))
	case l.Owner != nil && !first[l.Owner.Label]:
		s.lie("wrong owner", l, "it was not owned by %s", l.Owner.Label)
	case l.Owner != nil:
		s.owners[l.Owner.Label] = true
	}
}

// took judges what a take-over says of the time before it.
func (s *shown) took(l *line) {
	t := s.matched[l][begins]
	if s.several || t == nil || l.Event != "acquired" {
		return
	}
	before, ended := s.before(t)
	s.last(l, before, ended)
	s.gap(l, t, before, ended)
}

// before finds the end that really came before a take-over, and the last one that lines tell
// of; nil: there is none.
func (s *shown) before(t *change) (end, told *change) {
	for i := range s.truth[s.row] {
		e := &s.truth[s.row][i]
		if e == t {
			break
		}
		if e.what == ends {
			end = e
		}
	}
	if s.ended != nil {
		told = s.matched[s.ended][ends]
	}
	return end, told
}

func (s *shown) last(l *line, end, told *change) {
	switch {
	case l.Last == nil && s.ended != nil && s.ended.Previous != nil && told == end && !s.darkSince(s.ended.At, l.At):
		s.lie("wrong last", l, "it was %s, and the lines before say so", s.ended.Previous.Label)
	case l.Last == nil:
		s.counts["last: null"]++
	case end == nil:
		s.lie("wrong last", l, "nobody owned it before")
	case l.Last.Label == end.who:
		s.counts["last: right"]++
	case told != nil && l.Last.Label == told.who && s.hiddenBetween(told, end):
		s.counts["last: of before who came and went within one interval"]++
	default:
		s.lie("wrong last", l, "it was %s", end.who)
	}
}

func (s *shown) gap(l *line, t, end, told *change) {
	if end == nil {
		if l.Gap != nil {
			s.lie("wrong gap", l, "nobody owned it before")
		}
		return
	}
	if l.Gap == nil {
		if told != nil {
			s.lie("wrong gap", l, "its beginning is known by the lines before")
		}
		s.counts["gap: null"]++
		return
	}
	const printed = time.Microsecond
	least, most := time.Duration(l.Gap.Min)*time.Millisecond, time.Duration(l.Gap.Max)*time.Millisecond+printed
	slack := s.slackOf(l) // of instants that are told
	if s.ended != nil {
		slack += s.slackOf(s.ended)
	}
	shortest, longest := t.from.Sub(end.to), t.to.Sub(end.from)
	switch {
	case most+slack < shortest:
		s.lie("wrong gap", l, "it was %v at least", shortest)
	case least <= longest+slack:
		s.counts["gap: right"]++
	case told != nil && s.hiddenBetween(told, end) && least <= t.to.Sub(told.from)+slack:
		s.counts["gap: over who came and went within one interval"]++
	default:
		s.lie("wrong gap", l, "it was %v at most", longest)
	}
}

// slackOf is how much a line may be late with an instant.
func (s *shown) slackOf(l *line) time.Duration {
	if l.After == nil {
		return s.slack + prompt
	}
	return 0
}

// hiddenBetween reports whether all that happened after one end up to another came and went
// within one interval.
func (s *shown) hiddenBetween(told, end *change) bool {
	between := false
	for i := range s.truth[s.row] {
		t := &s.truth[s.row][i]
		if between && (t.what == begins || t.what == ends) && s.taken[t] == nil && (s.hidden[t] == "" || s.hidden[t] == inDarkness) {
			return false
		}
		if t == told {
			between = true
		}
		if t == end {
			return between
		}
	}
	return false
}

func (s *shown) darkSince(from, to time.Time) bool {
	for _, d := range s.dark {
		if d.from.Before(to) && d.to.After(from) {
			return true
		}
	}
	return false
}

func keys(set map[string]bool) []string {
	var list []string
	for k := range set {
		list = append(list, k)
	}
	return list
}
