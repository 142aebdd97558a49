package dialog

import (
	"time"

	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

const (
	// decidedFor is how old what stands in a dialog may be when it is confirmed.
	decidedFor = time.Minute
	// stepTime without a message means that the program or the machine stood still: one comes every second or two.
	stepTime = 5 * time.Second
	// suspending is how long the shell may take to stop the program.
	suspending = 10 * time.Second
	// leastWidth has room for the two buttons of every verb.
	leastWidth = 30
	// leastHeight has room for what a dialog is about, its owner, and a line to choose.
	leastHeight = 4
)

// tooSmall stands in place of a dialog that is not on the screen whole.
const tooSmall = "too small to act: enlarge"

// tooOld reports whether a decision that began then is to be made anew. Of a clock that was set
// nothing else is known.
func tooOld(decided, now time.Time) bool { return apart(decided, now) >= decidedFor }

// Stepped reports whether the program stood still between two messages.
func Stepped(last, now time.Time) bool { return apart(last, now) >= stepTime }

// apart is how far two times are apart on the wall: the monotonic clock stops in a suspend.
func apart(a, b time.Time) time.Duration { return b.Round(0).Sub(a.Round(0)).Abs() }

// fits reports whether a dialog of so many lines can be decided in w x h cells.
func fits(lines, w, h int) bool { return w >= leastWidth && max(lines, leastHeight) <= h }

// confirms reports whether an intent of a dialog begins something or lets it begin. onVerb: the
// button with the verb has the focus, or there is no other.
func confirms(i keys.Intent, onVerb bool) bool {
	switch i {
	case keys.Press:
		return onVerb
	case keys.Yes, keys.ResignAll, keys.RunOut, keys.CallOff:
		return true
	}
	return false
}

// withheld reports whether an intent is not carried out: its dialog is not on the screen whole, or
// it is too old, and is decided anew.
func withheld(a *Acting, i keys.Intent) bool {
	if a.small {
		return i != keys.Cancel
	}
	if !confirms(i, onVerb(a.dialog)) || !tooOld(a.decided, a.feed.Now()) {
		return false
	}
	renew(a, "this box was a minute old: look again before you confirm")
	return true
}

// onVerb reports whether a dialog has no focus elsewhere than on what it does.
func onVerb(d Dialog) bool {
	b, ok := d.(*box)
	return !ok || b.focus == len(b.fields)+buttonAct
}

// Suspending makes the open dialog ignore keys until Resumed: those that are read before it were
// pressed after the stop.
func (a *Acting) Suspending() { a.quiet = a.feed.Now().Add(suspending) }

// Resumed has the open dialog decided anew after the program stood still.
func (a *Acting) Resumed() {
	if a.dialog != nil {
		renew(a, "coordtop stood still: look again before you confirm")
	}
}

// renew has the open dialog decided anew, with all that was typed, and says why.
func renew(a *Acting, why string) {
	a.decided = a.feed.Now()
	a.ignoreKeys()
	if b, ok := a.dialog.(*box); ok && !b.writing {
		b.point(len(b.fields) + buttonCancel)
		if b.look(a); !b.gone {
			b.hint, b.pending = why, true
			a.later(b.ask(a, b.filled()))
		}
		return
	}
	a.host.Say(why)
}

// whole is the picture of the open dialog, or what stands in its place where that does not fit.
func whole(a *Acting, w, h int) screen.Picture {
	p := a.dialog.picture(a, w, h)
	if a.small = p.Cut || !fits(len(p.Lines), w, h); !a.small {
		return p
	}
	shrink(a)
	return screen.Picture{Lines: a.Theme.Wrapped(a.Theme.Strong, paint.Clean(tooSmall), w), Cut: true}
}

// shrink notes that the open dialog is not on the screen whole: there is no button to be focused.
func shrink(a *Acting) {
	a.small = true
	if b, ok := a.dialog.(*box); ok && b.focus >= len(b.fields) {
		b.point(len(b.fields) + buttonCancel)
	}
}
