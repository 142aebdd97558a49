package truth

import (
	"slices"
	"time"
)

// replay applies the lines of a row one after the other: they must not contradict each
// other, and what they say of the time before must be true.
func (c *checker) replay(row string, lines []*line) {
	s := &shown{checker: c, row: row, owners: map[string]int{}, waiters: map[string]int{}}
	for _, l := range lines {
		s.apply(l)
	}
	s.same("owners", s.owners, presentIn(c.truth[row], begins, ends))
	s.same("waiters", s.waiters, presentIn(c.truth[row], joins, leaves))
}

func presentIn(changes []change, in, out deed) map[string]int {
	h := newHistory()
	h.rows[""] = changes
	return h.present(in, out)[""]
}

// shown is a row as the lines show it.
type shown struct {
	*checker
	row     string
	owners  map[string]int // how often each owns it: in two modes, a session does twice
	waiters map[string]int
	ended   *line // the last that told an end; nil: none did
	anew    bool  // it was made anew since: of the time before nothing need be told
}

func (s *shown) same(what string, shown, truth map[string]int) {
	for who, n := range shown {
		if n > truth[who] {
			s.lie("wrong at the end", nil, "the %s of %s include %s", what, s.row, who)
		}
	}
	for who, n := range truth {
		if n > shown[who] {
			s.lie("wrong at the end", nil, "the %s of %s do not include %s", what, s.row, who)
		}
	}
}

func (s *shown) apply(l *line) {
	switch l.Event {
	case "present":
		s.present(l)
		return
	case "deleted", "created":
		s.anew = true
	}
	for _, cl := range l.claims() {
		who := cl.who.key()
		switch cl.what {
		case begins:
			if several := s.special[s.row].several; len(s.owners) > 0 && !several || several && s.owners[who] > 1 {
				s.lie("contradiction", l, "%v own it by the lines before", keys(s.owners))
			}
			s.took(l)
			s.owners[who]++
			delete(s.waiters, who)
		case ends:
			if s.owners[who] == 0 {
				s.lie("wrong previous", l, "%v own it by the lines before", keys(s.owners))
			}
			less(s.owners, who)
			s.ended, s.anew = l, false
		case renews:
			if s.owners[who] == 0 {
				s.lie("contradiction", l, "%v own it by the lines before", keys(s.owners))
			}
		case joins:
			if s.waiters[who] > 0 {
				s.lie("contradiction", l, "it waited already")
			}
			s.waiters[who]++
		case leaves:
			if s.waiters[who] == 0 {
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
			first[t.id] = true
		}
	}
	switch {
	case l.Owner == nil && len(first) > 0:
		s.lie("wrong owner", l, "it was owned by %v", keys(first))
	case l.Owner != nil && !first[l.Owner.key()]:
		s.lie("wrong owner", l, "it was not owned by %s", l.Owner.Label)
	case l.Owner != nil:
		s.owners[l.Owner.key()]++
	}
}

// took judges what a take-over says of the time before it.
func (s *shown) took(l *line) {
	t := s.matched[l][begins]
	if s.special[s.row].several || t == nil || l.Event != "acquired" {
		return
	}
	b := s.before(t)
	s.last(l, b)
	s.gap(l, t, b)
}

// past is what came before a take-over.
type past struct {
	end   *change // the end that really came before it; nil: nobody owned it
	shown *change // the last one that did not come and go within one interval
	long  *change // the last one of who owned it for longer than a push that is told can be late
}

func (s *shown) before(t *change) past {
	var p past
	var began *change
	for i := range s.truth[s.row] {
		e := &s.truth[s.row][i]
		if e == t {
			break
		}
		if e.what == begins {
			began = e
		}
		if e.what != ends {
			continue
		}
		p.end = e
		if began == nil || e.from.Sub(began.to) > 2*prompt {
			p.long = e
		}
		if why := s.hidden[e]; why == "" || why == inDarkness {
			p.shown = e
		}
	}
	return p
}

// unseen reports whether darkness, between the last end that lines tell of and now, may have
// hidden an owner.
func (s *shown) unseen(now time.Time) bool {
	from := s.ended.At
	if s.ended.After != nil {
		from = *s.ended.After
	}
	for _, d := range s.dark {
		if d.from.Before(now) && d.to.After(from) {
			return true
		}
	}
	return slices.ContainsFunc(s.listed, func(at time.Time) bool { return !at.Before(from) && at.Before(now.Add(listing)) })
}

// wide reports whether a line tells of a stretch in which more than its change may have come
// and gone: a longer one than an instant stands for.
func (l *line) wide() bool { return l.After != nil && l.At.Sub(*l.After) > prompt }

func (s *shown) last(l *line, p past) {
	switch {
	case l.Last == nil && s.interval == 0 && s.special[s.row].interval == 0 && s.ended != nil && p.end == p.shown && !(s.proved && (l.wide() || s.ended.wide())) && !s.anew && !s.unseen(l.At):
		s.lie("wrong last", l, "it was %s by the lines before", s.ended.Previous.Label)
	case l.Last == nil:
		s.counts["last: null"]++
	case p.end == nil:
		s.lie("wrong last", l, "nobody owned it before")
	case l.Last.key() == p.end.id:
		s.counts["last: right"]++
	case p.shown != nil && l.Last.key() == p.shown.id && s.hidden[p.shown] == "":
		s.counts["last: of before who came and went within one interval"]++
	default:
		s.lie("wrong last", l, "it was %s", p.end.id)
	}
}

func (s *shown) gap(l *line, t *change, p past) {
	switch {
	case l.Gap == nil && s.ended != nil && (s.anew || s.ended.At.Equal(l.At)): // given up and taken between two looks
		s.counts["gap: none"]++
		return
	case l.Gap == nil && s.ended != nil:
		s.lie("wrong gap", l, "its beginning is known by the lines before")
		return
	case l.Gap == nil:
		s.counts["gap: null"]++
		return
	case p.end == nil && s.anew:
		s.counts["gap: since it was made"]++
		return
	case p.end == nil:
		s.lie("wrong gap", l, "nobody owned it before")
		return
	}
	const printed = time.Microsecond
	least, most := l.Gap.least(), l.Gap.most()+printed
	slack := s.slackOf(l) // of instants that are told
	if s.ended != nil {
		slack += s.slackOf(s.ended)
	}
	shortest, longest := t.from.Sub(p.end.to), t.to.Sub(p.end.from)
	switch {
	case most+slack < shortest && !s.anew:
		s.lie("wrong gap", l, "it was %v at least", shortest)
	case least <= longest+slack:
		s.counts["gap: right"]++
	case s.proved && p.long != nil && least > t.to.Sub(p.long.from)+slack:
		s.lie("wrong gap", l, "it was %v at most since the last that was not too short to be seen", t.to.Sub(p.long.from))
	case p.shown != nil && least <= t.to.Sub(p.shown.from)+slack:
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

func keys[T any](set map[string]T) []string {
	var list []string
	for k := range set {
		list = append(list, k)
	}
	return list
}
