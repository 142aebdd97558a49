package screen

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
)

// sign is the health of one source in the header.
type sign struct {
	name, text, short string
	mark              string
	st                paint.Style      // of the mark
	loud              bool             // the source does not answer: the text has the mark's style
	sev               verdict.Severity // if loud
	live              bool
}

// sourceHealth returns the sign of a source.
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
		h.text += paint.When(!alive.IsZero(), " "+silenceText(sc, alive))
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

// markSilent sets the mark of a source that does not answer. alive is the time of its last answer; zero:
// it never answered.
func markSilent(sc *Scene, h *sign, alive time.Time) {
	if alive.IsZero() {
		alive = sc.Started
	}
	h.sev = verdict.Silence(sc.Now.Sub(alive), &sc.State.Thresholds)
	h.mark, h.loud, h.st = sc.Theme.Down, true, sc.Theme.Severity(h.sev)
	if sc.Muted.OfSilence(h.name) != nil {
		h.sev, h.st = verdict.Well, sc.Theme.Dim
	}
}

// silenceText returns the time since the last answer, rounded up: it is shown for the following second,
// so that a time that is rounded down would always be too short.
func silenceText(sc *Scene, alive time.Time) string {
	return format.Age(sc.Now.Sub(alive) + time.Second - 1)
}

// briefMode returns the interval at which a scope is read, or a word for how changes are announced. The
// Sources screen has the full text.
func briefMode(a *sources.About) string {
	if a.Sampling > 0 {
		return paint.ShortDuration(a.Sampling)
	}
	mode, _, _ := strings.Cut(paint.Clean(a.Mode), ",")
	return mode
}

// worstScope returns the scope of a source with the worst health; nil: the source has none.
func worstScope(sc *Scene, s *sources.SourceStatus) *sources.Scope {
	scopes := scopesOf(sc, s)
	if len(scopes) == 0 {
		return nil
	}
	return slices.MaxFunc(scopes, func(a, b *sources.Scope) int {
		return cmp.Or(cmp.Compare(a.Health, b.Health), b.Alive.Compare(a.Alive))
	})
}

// drawHealth writes the health of the sources up to column end. If there is no room, live sources lose
// their texts; if that is not enough, they are only counted.
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
	room := end - l.X
	if min(long, short) > room {
		healthCounts(sc, l, all, end)
		return
	}
	for _, h := range all {
		if long > room {
			h.text = h.short
		}
		putHealth(sc, l, h, h.text)
	}
}

func putHealth(sc *Scene, l *paint.Line, h sign, text string) {
	l.Put(h.st, h.mark).Skip(1)
	switch {
	case h.loud:
		l.Put(h.st, strings.TrimRight(h.name+" "+text, " "))
	case text != "":
		l.Put("", h.name).Skip(1).Put(sc.Theme.Dim, text)
	default:
		l.Put("", h.name)
	}
	l.Skip(2)
}

// healthCounts is for many sources or a narrow screen: it names the sources that do not answer as far
// as there is room, and counts the others.
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
		tail = tail[2:] // live sources are left out first
	}
	l.Parts(tail...)
}

// SilentSources counts the sources that do not answer, and returns the worst severity among them and those that nobody
// is seen to observe.
func SilentSources(sc *Scene) (n int, worst verdict.Severity) {
	worst = verdict.Well
	for i := range sc.State.Sources {
		s := &sc.State.Sources[i]
		if h := sourceHealth(sc, s); h.loud {
			if !errors.Is(s.Err, sources.ErrUnseen) {
				n++
			}
			worst = min(worst, h.sev)
		}
	}
	return n, worst
}

// sourceTrouble is an outage or a warning of a source.
type sourceTrouble struct {
	source string
	state  string // of a source that does not answer; "": it is a warning
	text   string
	retry  string
	st     paint.Style // of the state
}

// sourceTroubles lists the sources that do not answer, with the error and the next try, then the
// warnings of sources. Those that nobody is seen to observe are one trouble.
func sourceTroubles(sc *Scene) []sourceTrouble {
	var all []sourceTrouble
	unseen := slices.IndexFunc(sc.State.Sources, func(s sources.SourceStatus) bool { return errors.Is(s.Err, sources.ErrUnseen) })
	for i := range sc.State.Sources {
		s := &sc.State.Sources[i]
		h := sourceHealth(sc, s)
		if i == unseen {
			h.name = "all"
		}
		if h.loud && (i == unseen || !errors.Is(s.Err, sources.ErrUnseen)) {
			all = append(all, sourceTrouble{h.name, h.text, why(s), retryText(sc, s), h.st})
		}
	}
	for i := range sc.State.Scopes {
		c := &sc.State.Scopes[i]
		for _, w := range c.About.Warnings {
			name := strings.TrimSpace(paint.Clean(c.Source) + " " + paint.Clean(c.Name))
			all = append(all, sourceTrouble{source: name, text: paint.Clean(w)})
		}
	}
	return all
}

// why returns the error of a source in words.
func why(s *sources.SourceStatus) string {
	if s.Err == nil || errors.Is(s.Err, sources.ErrSilent) { // the text of ErrSilent has an age of its own
		return "its server has stopped answering"
	}
	return paint.Clean(s.Err.Error())
}

// retryText returns the time until a source is tried again; "": no pause runs.
func retryText(sc *Scene, s *sources.SourceStatus) string {
	switch d := s.Retry.Sub(sc.Now); {
	case s.Retry.IsZero():
		return ""
	case d <= 0:
		return "trying again"
	default:
		return "next try in " + format.Left(d)
	}
}

// sourceTroubleLines draws h lines of troubles; the last one counts those that have no room.
func sourceTroubleLines(sc *Scene, w, h int) []string {
	if h < 1 {
		return nil
	}
	all, more := sourceTroubles(sc), 0
	if len(all) > h {
		more = len(all) - h + 1
		all = all[:h-1]
	}
	lines := make([]string, 0, h)
	for _, t := range all {
		lines = append(lines, sourceTroubleLine(sc, t, w))
	}
	if more > 0 {
		lines = append(lines, sc.Theme.Line(w).Skip(3).Put(sc.Theme.Dim, format.Count(more)+" more about sources").Done())
	}
	return sc.Theme.Box(lines, w, h)
}

func sourceTroubleLine(sc *Scene, t sourceTrouble, w int) string {
	l := sc.Theme.Line(w).Skip(1)
	if t.state == "" {
		return l.Put(sc.Theme.Warn, sc.Theme.Marks[verdict.Warn]).Skip(1).Put("", t.source).Skip(2).Put(sc.Theme.Dim, t.text).Done()
	}
	l.Put(t.st, sc.Theme.Down).Skip(1).Put(t.st, t.source+" "+t.state).Skip(2)
	return l.Put("", sc.Theme.Cut(t.text, w-l.X-format.Width(t.retry)-4)).Skip(2).Put(sc.Theme.Dim, t.retry).Done()
}
