package screen

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
)

// sign is what the header says of one source.
type sign struct {
	name, text, short string
	mark              string
	st                paint.Style      // of the mark
	loud              bool             // not well: the text has the mark's style
	sev               verdict.Severity // of a loud one
	live              bool
}

// sourceHealth sums up a source from its scopes.
func sourceHealth(sc *Scene, s *sources.SourceStatus) sign {
	h := sign{name: paint.Clean(s.Name)}
	scope := worstScope(sc, s)
	switch {
	case s.Health == sources.HealthConnecting:
		h.mark, h.st, h.text, h.short = sc.Theme.Connecting, sc.Theme.Dim, "connecting", "connecting"
		if s.Err != nil {
			h.text, h.short = "no answer", "no answer"
			markSilent(sc, &h, time.Time{})
		}
	case s.Health == sources.HealthStale:
		h.text, h.short = "STALE", "STALE"
		var alive time.Time
		if scope != nil {
			alive = scope.Alive
		}
		if !alive.IsZero() {
			h.text += " " + silenceText(sc, alive)
		}
		markSilent(sc, &h, alive)
	default:
		h.mark, h.st, h.live = sc.Theme.Up, sc.Theme.Good, true
		if scope != nil {
			h.text = briefMode(&scope.About)
			if age := sc.Now.Sub(scope.Alive); age >= 2*time.Second {
				h.text += ", " + format.Age(age) + " old"
			}
		}
	}
	return h
}

// markSilent marks the sign of a source that does not answer, of which was last heard at alive;
// zero: never.
func markSilent(sc *Scene, h *sign, alive time.Time) {
	if alive.IsZero() {
		alive = sc.Started
	}
	h.sev = verdict.Silence(sc.Now.Sub(alive), &sc.State.Thresholds)
	h.mark, h.loud, h.st = sc.Theme.Down, true, sc.Theme.Severity(h.sev)
}

// silenceText is for how long nothing was heard, rounded up: what is shown stands for the second
// that follows, so an age that is rounded down would fall short all the time.
func silenceText(sc *Scene, alive time.Time) string {
	return format.Age(sc.Now.Sub(alive) + time.Second - 1)
}

// briefMode says how fresh what is read of a scope is: how often it is read, or in a word
// what tells of changes. The screen of sources has all that is known of it.
func briefMode(a *sources.About) string {
	if a.Sampling > 0 {
		return paint.ShortDuration(a.Sampling)
	}
	mode, _, _ := strings.Cut(paint.Clean(a.Mode), ",")
	return mode
}

// worstScope returns the scope of a source that has been silent for longest; nil: it has none.
func worstScope(sc *Scene, s *sources.SourceStatus) *sources.Scope {
	scopes := scopesOf(sc, s)
	if len(scopes) == 0 {
		return nil
	}
	return slices.MaxFunc(scopes, func(a, b *sources.Scope) int {
		return cmp.Or(cmp.Compare(a.Health, b.Health), b.Alive.Compare(a.Alive))
	})
}

// drawHealth writes the sources up to column end. When there is no room for all, those
// that are well lose their text, then are only counted.
func drawHealth(sc *Scene, l *paint.Line, end int) {
	all := make([]sign, len(sc.State.Sources))
	long, short := 0, 0
	for i := range sc.State.Sources {
		h := sourceHealth(sc, &sc.State.Sources[i])
		all[i] = h
		long += 5 + format.Width(h.name) + format.Width(h.text)
		short += 4 + format.Width(h.name)
		if h.loud {
			short += 1 + len(h.short)
		}
	}
	l.Skip(1)
	switch room := end - l.X; {
	case long <= room:
		for _, h := range all {
			putHealth(sc, l, h, h.text)
		}
	case short <= room:
		for _, h := range all {
			putHealth(sc, l, h, h.short)
		}
	default:
		healthCounts(sc, l, all, end)
	}
}

func putHealth(sc *Scene, l *paint.Line, h sign, text string) {
	l.Put(h.st, h.mark).Skip(1)
	if h.loud {
		l.Put(h.st, strings.TrimRight(h.name+" "+text, " "))
	} else {
		l.Put("", h.name)
		if text != "" {
			l.Skip(1).Put(sc.Theme.Dim, text)
		}
	}
	l.Skip(2)
}

// healthCounts is for many sources, or a narrow screen: those that are not well by name
// as far as there is room, the rest counted.
func healthCounts(sc *Scene, l *paint.Line, all []sign, end int) {
	live, down, worst := 0, 0, sc.Theme.Warn
	for _, h := range all {
		switch {
		case h.live:
			live++
		case h.loud:
			down++
			if h.sev == verdict.Bad {
				worst = h.st
			}
		}
	}
	var tail []paint.Part
	say := func(n int, mark string, st paint.Style, text string) {
		if n > 0 {
			tail = append(tail, st.Text(mark), sc.Theme.Dim.Text(" "+format.Count(n)+" "+text+"  "))
		}
	}
	say(live, sc.Theme.Up, sc.Theme.Good, "live")
	say(len(all)-live-down, sc.Theme.Connecting, sc.Theme.Dim, "connecting")
	for _, h := range all {
		if h.loud && l.X+6+format.Width(h.name)+len(h.short)+paint.PartsWidth(tail)+len("9 more down") <= end {
			putHealth(sc, l, h, h.short)
			down--
		}
	}
	say(down, sc.Theme.Down, worst, "down")
	for len(tail) > 0 && l.X+paint.PartsWidth(tail) > end+2 {
		tail = tail[2:] // what is well goes first
	}
	l.Parts(tail...)
}

// SilentSources counts the sources that do not answer; worst is how bad that is.
func SilentSources(sc *Scene) (n int, worst verdict.Severity) {
	worst = verdict.Well
	for i := range sc.State.Sources {
		if h := sourceHealth(sc, &sc.State.Sources[i]); h.loud {
			n++
			worst = min(worst, h.sev)
		}
	}
	return n, worst
}
