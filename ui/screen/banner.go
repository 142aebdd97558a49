package screen

import (
	"errors"
	"fmt"

	"coordtop/internal/history"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// drawBanner says over its whole line that the past is shown, which time of it, and how to move
// in it: what matters most first.
func drawBanner(sc *Scene, w int) string {
	th := &sc.Theme
	l := th.Line(w).Put(th.Notice, " THE PAST "+sc.Now.Format("Mon 2006-01-02 15:04:05.000 MST "))
	say := func(text string) {
		if l.X+len(text)+1 <= w {
			l.Put(th.Notice, " "+text)
		}
	}
	say(replayText(sc))
	if thinned(sc) {
		say(noRenewals)
	}
	if sc.OnlyPast {
		say(" " + quitKey(sc) + " quit ")
	} else {
		say(" " + sc.Keys.KeyOf(keys.Present) + " now ")
	}
	say(" " + sc.Keys.KeyOf(keys.Play) + " play/stop ")
	say(sc.Keys.KeyOf(keys.PreviousEvent) + " " + sc.Keys.KeyOf(keys.NextEvent) + " event ")
	if sc.OnlyPast {
		say(sc.Keys.KeyOf(keys.Present) + " end ")
		say(sc.Keys.KeyOf(keys.Trouble) + " what went wrong ")
	}
	say(sc.Keys.KeyOf(keys.Slower) + " " + sc.Keys.KeyOf(keys.Faster) + " speed ")
	say(" " + sc.Keys.KeyOf(keys.At) + "  nothing can be done here")
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
	case at.Hole != history.Span{}:
		return "not recorded: " + paint.TimeOfDay(at.Hole.From, sc.Now) + " - " + paint.TimeOfDay(at.Hole.To, sc.Now)
	case at.End:
		return "the recording ends here"
	case at.Playing:
		return fmt.Sprintf("playing x%d", at.Speed)
	case at.Speed > 1:
		return fmt.Sprintf("stopped, x%d", at.Speed)
	}
	return "stopped"
}
