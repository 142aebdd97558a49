package screen

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// bannerLines say over the whole screen that the past is shown, which time of it, and how: what matters most first. In a
// hole, a second one has both ends of that.
func bannerLines(sc *Scene, w int) []string {
	if sc.Replay == nil {
		return nil
	}
	lines := []string{replayLine(sc, w)}
	if text := holeText(sc); text != "" {
		lines = append(lines, noticeLine(sc, w).Put(sc.Theme.Notice, fmt.Sprintf(" %-*s", w-1, text)).Done())
	}
	return lines
}

// noticeLine is a line that looks the same over what is old.
func noticeLine(sc *Scene, w int) *paint.Line {
	l := sc.Theme.Line(w)
	l.Over = ""
	return l
}

// holeText says when nobody recorded, or a source was not observed, and of when is what is shown; "": all was observed.
func holeText(sc *Scene) string {
	at, what, others := sc.Replay, sc.Replay.Hole.Why().String(), 0
	hole := at.Hole.Dark
	if !at.InHole() {
		what = ""
		for i := range sc.State.Scopes {
			c := &sc.State.Scopes[i]
			d := slices.IndexFunc(at.Dark, func(d history.DarkChange) bool {
				return !at.Believed && c.Health == sources.HealthStale && d.Ref == sources.Ref{} && d.Source == c.Source && d.Scope == c.Name
			})
			switch {
			case d < 0:
			case what != "":
				others++
			default:
				what, hole = paint.Clean(strings.TrimSpace(c.Source+" "+c.Name))+": not observed", at.Dark[d].Dark
			}
		}
	}
	from, more := paint.TimeOfDay(hole.From, sc.Now), ""
	if others > 0 {
		more = ", " + format.Count(others) + " more"
	}
	switch {
	case what == "":
		return ""
	case hole.To.IsZero():
		return what + " from " + from + " on" + more + "; shown as known then"
	}
	return what + " " + from + " - " + paint.TimeOfDay(hole.To, sc.Now) + ", " + format.Precise(hole.To.Sub(hole.From)) + more + "; shown as known at " + from
}

// replayLine is the first of them.
func replayLine(sc *Scene, w int) string {
	th := &sc.Theme
	l := noticeLine(sc, w).Put(th.Notice, " THE PAST "+sc.Replay.At.In(sc.Now.Location()).Format("Mon 2006-01-02 15:04:05.000 MST "))
	say := func(text string) {
		if l.X+len(text)+1 <= w {
			l.Put(th.Notice, " "+text)
		}
	}
	say(replayText(sc))
	if sc.Replay.Believed {
		say(" as believed then")
	}
	if thinned(sc) {
		say(" " + noRenewals)
	}
	if !sc.Replay.Believed {
		say(" as known now")
	}
	if sc.OnlyPast {
		say(" " + quitKey(sc) + " quit ")
	}
	say(" nothing can be done here")
	return l.Put(th.Notice, fmt.Sprintf("%*s", max(w-l.X, 0), "")).Done()
}

// quitKey is the key that quits here: that of the screen, where it has one, else that of all screens.
func quitKey(sc *Scene) string {
	for _, b := range sc.Keys {
		if b.Intent == keys.Quit && b.Context == sc.KeyContext {
			return b.Keys[0]
		}
	}
	return sc.Keys.KeyOf(keys.Quit)
}

// noRenewals says why no lease is known.
const noRenewals = "renewals not recorded here"

// thinned reports whether a time is shown of which the renewals are not kept any more.
func thinned(sc *Scene) bool { return sc.Replay != nil && sc.Replay.Thin }

// replayText says what the replay does, and what of the time is not as asked for.
func replayText(sc *Scene) string {
	at := sc.Replay
	switch {
	case at.Moving:
		return "going there..."
	case errors.Is(at.Err, history.ErrNothing):
		return "nothing is recorded"
	case at.Err != nil:
		return paint.Clean(at.Err.Error())
	case at.Hole != history.Hole{} && !at.InHole():
		return at.Hole.Why().String() + ": " + paint.TimeOfDay(at.Hole.From, sc.Now) + " - " + paint.TimeOfDay(at.Hole.To, sc.Now)
	case at.End:
		return "the recording ends here"
	case at.Playing:
		return fmt.Sprintf("playing x%d", at.Speed)
	case at.Speed > 1:
		return fmt.Sprintf("stopped, x%d", at.Speed)
	}
	return "stopped"
}
