package ui

import (
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// sign is what the header says of one source.
type sign struct {
	name, text, short string
	mark              string
	st                style    // of the mark
	loud              bool     // not well: the text has the mark's style
	sev               severity // of a loud one
	live              bool
}

// sourceHealth sums up a source from its scopes.
func (m *model) sourceHealth(s *sources.SourceStatus) sign {
	h := sign{name: clean(s.Name)}
	scope := m.worstScope(s)
	switch {
	case s.Health == sources.HealthConnecting:
		h.mark, h.st, h.text, h.short = m.th.connecting, m.th.dim, "connecting", "connecting"
		if s.Err != nil {
			h.text, h.short = "no answer", "no answer"
			m.silent(&h, time.Time{})
		}
	case s.Health == sources.HealthStale:
		h.text, h.short = "STALE", "STALE"
		var alive time.Time
		if scope != nil {
			alive = scope.Alive
		}
		if !alive.IsZero() {
			h.text += " " + m.silence(alive)
		}
		m.silent(&h, alive)
	default:
		h.mark, h.st, h.live = m.th.up, m.th.good, true
		if scope != nil {
			h.text = briefMode(&scope.About)
			if age := m.now.Sub(scope.Alive); age >= 2*time.Second {
				h.text += ", " + format.Age(age) + " old"
			}
		}
	}
	return h
}

// silent marks the sign of a source that does not answer, of which was last heard at alive;
// zero: never. That is worth a look, and needs a person from the threshold on.
func (m *model) silent(h *sign, alive time.Time) {
	if alive.IsZero() {
		alive = m.started
	}
	h.mark, h.loud, h.sev, h.st = m.th.down, true, sevWarn, m.th.warn
	if m.now.Sub(alive) >= m.st.Thresholds.Stale {
		h.sev, h.st = sevBad, m.th.bad
	}
}

// silence is for how long nothing was heard, rounded up: what is shown stands for the second
// that follows, so an age that is rounded down would fall short all the time.
func (m *model) silence(alive time.Time) string {
	return format.Age(m.now.Sub(alive) + time.Second - 1)
}

// briefMode says how fresh what is read of a scope is: how often it is read, or in a word
// what tells of changes. The screen of sources has all that is known of it.
func briefMode(a *sources.About) string {
	if a.Sampling > 0 {
		return shortDuration(a.Sampling)
	}
	mode, _, _ := strings.Cut(clean(a.Mode), ",")
	return mode
}

// worstScope returns the scope of a source that has been silent for longest.
func (m *model) worstScope(s *sources.SourceStatus) *sources.Scope {
	var worst *sources.Scope
	for i := range m.st.Scopes {
		c := &m.st.Scopes[i]
		if c.Source == s.Name && (worst == nil || c.Health > worst.Health || c.Health == worst.Health && c.Alive.Before(worst.Alive)) {
			worst = c
		}
	}
	return worst
}

// health writes the sources up to column end. When there is no room for all, those
// that are well lose their text, then are only counted.
func (m *model) health(l *line, end int) {
	all := make([]sign, len(m.st.Sources))
	long, short := 0, 0
	for i := range m.st.Sources {
		h := m.sourceHealth(&m.st.Sources[i])
		all[i] = h
		long += 5 + format.Width(h.name) + format.Width(h.text)
		short += 4 + format.Width(h.name)
		if h.loud {
			short += 1 + len(h.short)
		}
	}
	l.skip(1)
	switch room := end - l.x; {
	case long <= room:
		for _, h := range all {
			m.putHealth(l, h, h.text)
		}
	case short <= room:
		for _, h := range all {
			m.putHealth(l, h, h.short)
		}
	default:
		m.healthCounts(l, all, end)
	}
}

func (m *model) putHealth(l *line, h sign, text string) {
	l.put(h.st, h.mark).skip(1)
	if h.loud {
		l.put(h.st, strings.TrimRight(h.name+" "+text, " "))
	} else {
		l.put("", h.name)
		if text != "" {
			l.skip(1).put(m.th.dim, text)
		}
	}
	l.skip(2)
}

// healthCounts is for many sources, or a narrow screen: those that are not well by name
// as far as there is room, the rest counted.
func (m *model) healthCounts(l *line, all []sign, end int) {
	live, down, worst := 0, 0, m.th.warn
	for _, h := range all {
		switch {
		case h.live:
			live++
		case h.loud:
			down++
			if h.sev == sevBad {
				worst = h.st
			}
		}
	}
	var tail []part
	say := func(n int, mark string, st style, text string) {
		if n > 0 {
			tail = append(tail, part{st, mark}, part{m.th.dim, " " + format.Count(n) + " " + text + "  "})
		}
	}
	say(live, m.th.up, m.th.good, "live")
	say(len(all)-live-down, m.th.connecting, m.th.dim, "connecting")
	for _, h := range all {
		if h.loud && l.x+6+format.Width(h.name)+len(h.short)+partsWidth(tail)+len("9 more down") <= end {
			m.putHealth(l, h, h.short)
			down--
		}
	}
	say(down, m.th.down, worst, "down")
	for len(tail) > 0 && l.x+partsWidth(tail) > end+2 {
		tail = tail[2:] // what is well goes first
	}
	for _, p := range tail {
		l.put(p.st, p.text)
	}
}

// silentSources counts the sources that do not answer; worst is how bad that is.
func (m *model) silentSources() (n int, worst severity) {
	worst = sevWell
	for i := range m.st.Sources {
		if h := m.sourceHealth(&m.st.Sources[i]); h.loud {
			n++
			worst = min(worst, h.sev)
		}
	}
	return n, worst
}
