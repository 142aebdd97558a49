package dialog

import (
	"time"

	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

const (
	// decidedFor is the greatest age of a dialog that can be confirmed.
	decidedFor = time.Minute
	// stepTime without a message means that the program or the machine was suspended: one comes every second or two.
	stepTime = 5 * time.Second
	// suspending bounds the time that the shell needs to stop the program.
	suspending = 10 * time.Second
	// leastWidth has room for the two buttons of every verb.
	leastWidth = 30
	// leastHeight has room for the target of a dialog, its owner, and a line of choices.
	leastHeight = 4
)

// tooSmall replaces a dialog that does not fit on the screen.
const tooSmall = "too small to act: enlarge"

// tooOld reports whether a decision that began at decided must be made again, because it is too old or the clock was
// set.
func tooOld(decided, now time.Time) bool { return apart(decided, now) >= decidedFor }

// Stepped reports whether the program was suspended between two messages.
func Stepped(last, now time.Time) bool { return apart(last, now) >= stepTime }

// apart returns the distance of two times on the wall clock: the monotonic clock stops in a suspend.
func apart(a, b time.Time) time.Duration { return b.Round(0).Sub(a.Round(0)).Abs() }

// fits reports whether w x h cells have room for a dialog of so many lines.
func fits(lines, w, h int) bool { return w >= leastWidth && max(lines, leastHeight) <= h }

// confirms reports whether an intent of a dialog begins an action or allows it. onVerb: the button with
// the verb has the focus, or the dialog has no buttons.
func confirms(i keys.Intent, onVerb bool) bool {
	switch i {
	case keys.Press:
		return onVerb
	case keys.Yes, keys.ResignAll, keys.RunOut, keys.CallOff:
		return true
	}
	return false
}

// withheld reports whether an intent must not be carried out, because its dialog does not fit on the
// screen or is too old. The person must decide again in a dialog that is too old.
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

// onVerb reports whether the button with the verb has the focus, or the dialog has no buttons.
func onVerb(d Dialog) bool {
	b, ok := d.(*box)
	return !ok || b.focus == len(b.fields)+buttonAct
}

// Suspending makes the open dialog ignore keys until Resumed: keys that are read before were pressed
// after the stop.
func (a *Acting) Suspending() { a.quiet = a.feed.Now().Add(suspending) }

// Resumed makes the person decide again in the open dialog after the program was suspended.
func (a *Acting) Resumed() {
	if a.dialog != nil {
		renew(a, "coordtop stood still: look again before you confirm")
	}
}

// renew makes the person decide again in the open dialog, and shows why. Typed text stays.
func renew(a *Acting, why string) {
	a.decided = a.feed.Now()
	a.ignoreKeys()
	if b, ok := a.dialog.(*box); ok && !b.writing {
		b.point(len(b.fields) + buttonCancel)
		if b.update(a); !b.gone {
			b.hint, b.pending = why, true
			a.later(b.ask(a, b.filled()))
		}
		return
	}
	a.host.Say(why)
}

// whole returns the picture of the open dialog, or tooSmall if it does not fit.
func whole(a *Acting, w, h int) screen.Picture {
	p := a.dialog.picture(a, w, h)
	if a.small = p.Cut || !fits(len(p.Lines), w, h); !a.small {
		return p
	}
	shrink(a)
	return screen.Picture{Lines: a.Theme.Wrapped(a.Theme.Strong, paint.Clean(tooSmall), w), Cut: true}
}

// shrink notes that the open dialog does not fit on the screen, and moves the focus from the button with
// the verb, which is not visible.
func shrink(a *Acting) {
	a.small = true
	if b, ok := a.dialog.(*box); ok && b.focus >= len(b.fields) {
		b.point(len(b.fields) + buttonCancel)
	}
}
