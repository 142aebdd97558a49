package screen

import (
	"coordtop/internal/format"
	"coordtop/ui/paint"
)

// drawBadge says in the header whether anything can be changed, and for how long; where nothing
// can, whether something of ours goes on all the same.
func drawBadge(sc *Scene, l *paint.Line) {
	s := sc.Status
	holding, waiting, _ := Held(sc)
	switch {
	case sc.Replay != nil && holding == 0 && waiting == 0 && l.Width >= 40: // nothing is done in the past
		l.Put(sc.Theme.Badge, " READ-ONLY ").Skip(1)
	case sc.Replay == nil && sc.Acts && s.Always:
		l.Put(sc.Theme.Notice, " WRITE ").Skip(1)
	case sc.Replay == nil && sc.Acts && sc.Clock.Before(s.Armed):
		l.Put(sc.Theme.Notice, " WRITE "+format.Left(s.Armed.Sub(sc.Clock))+" ").Skip(1)
	case holding > 0: // they are renewed
		l.Put(sc.Theme.Notice, " HOLDING "+format.Count(holding)+" ").Skip(1)
	case waiting > 0:
		l.Put(sc.Theme.Notice, " CALLING OFF "+format.Count(waiting)+" ").Skip(1)
	case l.Width >= 40:
		l.Put(sc.Theme.Badge, " READ-ONLY ").Skip(1)
	}
}

// drawHoldings writes into the header what we hold, as far as the badge does not say it and there is
// room; end is where something else begins.
func drawHoldings(sc *Scene, l *paint.Line, end int) {
	holding, waiting, until := Held(sc)
	say := func(text string) {
		if l.X+len(text)+2 <= end {
			l.Put(sc.Theme.Accent, text).Skip(2)
		}
	}
	if holding > 0 && sc.Status.CanWrite(sc.Clock) {
		say("we hold " + format.Count(holding))
	}
	if !until.IsZero() {
		say(format.Left(max(until.Sub(sc.Clock), 0)) + " left")
	}
	if waiting > 0 {
		say("in " + paint.Count(waiting, "queue"))
	}
}
