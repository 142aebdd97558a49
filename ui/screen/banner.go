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

// bannerLines draws the banner of the past: a line with the time that is shown, most important facts
// first, and in a hole of the recording a second line with both of its ends.
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

// noticeLine returns a line without the fading of a hole.
func noticeLine(sc *Scene, w int) *paint.Line {
	l := sc.Theme.Line(w)
	l.Over = ""
	return l
}

// holeText describes the hole at the time that is shown: nothing was recorded, or a source was not
// observed; "": there is none.
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
	from, more := paint.TimeOfDay(hole.From, sc.Now), paint.When(others > 0, ", "+format.Count(others)+" more")
	switch {
	case what == "":
		return ""
	case hole.To.IsZero():
		return what + " from " + from + " on" + more + "; shown as known then"
	}
	return what + " " + from + " - " + paint.TimeOfDay(hole.To, sc.Now) + ", " + format.Precise(hole.To.Sub(hole.From)) + more + "; shown as known at " + from
}

// replayLine draws the first line of the banner.
func replayLine(sc *Scene, w int) string {
	th := &sc.Theme
	l := noticeLine(sc, w).Put(th.Notice, " THE PAST "+sc.Replay.At.In(sc.Now.Location()).Format("Mon 2006-01-02 15:04:05.000 MST "))
	say := func(on bool, text string) {
		if on && l.X+len(text)+1 <= w {
			l.Put(th.Notice, " "+text)
		}
	}
	say(true, replayText(sc))
	say(sc.Replay.Believed, " as believed then")
	say(thinned(sc), " "+noRenewals)
	say(!sc.Replay.Believed, " as known now")
	say(sc.OnlyPast, " "+quitKey(sc)+" quit ")
	say(true, " nothing can be done here")
	return l.Put(th.Notice, fmt.Sprintf("%*s", max(w-l.X, 0), "")).Done()
}

// quitKey returns the key that quits: that of the screen if it has one, else that of all screens.
func quitKey(sc *Scene) string {
	for _, b := range sc.Keys {
		if b.Intent == keys.Quit && b.Context&sc.KeyContext != 0 && b.Context&keys.InHelp == 0 {
			return b.Keys[0]
		}
	}
	return sc.Keys.KeyOf(keys.Quit)
}

// noRenewals is the reason why leases are unknown.
const noRenewals = "renewals not recorded here"

// thinned reports whether a time is shown for which the recording does not keep renewals any more.
func thinned(sc *Scene) bool { return sc.Replay != nil && sc.Replay.Thin }

// replayText describes the state of the replay, and why the time is not the requested one.
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
