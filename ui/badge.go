package ui

import "coordtop/internal/format"

// badge says in the header whether anything can be changed, and for how long; where nothing
// can, whether something of ours goes on all the same.
func (m *model) badge(l *line) {
	s := m.hands.status
	holding, waiting, _ := m.held()
	switch {
	case m.hands.op != nil && s.Always:
		l.put(m.th.notice, " WRITE ").skip(1)
	case m.hands.op != nil && m.clock.Before(s.Armed):
		l.put(m.th.notice, " WRITE "+format.Left(s.Armed.Sub(m.clock))+" ").skip(1)
	case holding > 0: // they are renewed
		l.put(m.th.notice, " HOLDING "+format.Count(holding)+" ").skip(1)
	case waiting > 0:
		l.put(m.th.notice, " CALLING OFF "+format.Count(waiting)+" ").skip(1)
	case l.w >= 40:
		l.put(m.th.badge, " READ-ONLY ").skip(1)
	}
}

// healthRoom is how many cells of the header the longest text about what we hold leaves to the
// sources.
const healthRoom = 14

// holdings writes into the header what we hold, as far as the badge does not say it; end is
// where something else begins.
func (m *model) holdings(l *line, end int) {
	holding, waiting, until := m.held()
	say := func(texts ...string) { // the longest that there is room for
		room := healthRoom
		for _, text := range texts {
			if l.x+len(text)+2+room <= end {
				l.put(m.th.accent, text).skip(2)
				return
			}
			room = 0
		}
	}
	we, left := "", ""
	if m.hands.status.CanWrite(m.clock) {
		we = "we hold " + format.Count(holding)
	}
	if !until.IsZero() {
		left = format.Left(max(until.Sub(m.clock), 0)) + " left"
	}
	switch {
	case holding == 0:
	case we == "" && left != "":
		say(left+" unless renewed", left)
	case left != "":
		say(we+" ("+left+" unless renewed)", we+" ("+left+")", we)
	case we != "":
		say(we, we)
	}
	if waiting > 0 {
		queues := "in " + count(waiting, "queue")
		say(queues, queues)
	}
}
