package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/format"
	"coordtop/internal/mute"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// knowing asks for a word and an end of an acknowledgement. It does no harm: enter is enough.
type knowing struct {
	what   string
	fields [2]*field // the word and the end
	at     int       // the field with the cursor
	keep   func(word string, d time.Duration) tea.Cmd
}

// Know opens the box in which a person acknowledges something. keep is called with the word and the length.
func Know(a *Acting, what string, keep func(word string, d time.Duration) tea.Cmd) {
	d := &knowing{what: paint.Clean(what), keep: keep}
	d.fields = [...]*field{newField(fieldWord, "why, for others: deploy, INC-4409"), newField(fieldEnd, "until it is over, at most "+format.Age(mute.KnownFor))}
	d.fields[0].focus(true)
	a.show(d)
}

func (d *knowing) keyContext() keys.Context { return keys.InKnown }

func (d *knowing) do(a *Acting, i keys.Intent) tea.Cmd {
	switch i {
	case keys.NextField, keys.PreviousField:
		d.fields[d.at].focus(false)
		d.at = 1 - d.at
		d.fields[d.at].focus(true)
	case keys.Cancel:
		a.close()
	case keys.Press:
		if d.fields[1].wrong() != "" {
			break // the box shows it
		}
		length, ok := format.ParseLength(d.fields[1].value())
		if !ok {
			length = mute.KnownFor
		}
		a.close()
		return d.keep(d.fields[0].value(), length)
	}
	return nil
}

func (d *knowing) edit(_ *Acting, msg tea.Msg) tea.Cmd {
	d.fields[d.at].edit(msg)
	return nil
}

func (d *knowing) update(*Acting) {}

func (d *knowing) picture(a *Acting, w, _ int) screen.Picture {
	const label = 7
	th, p := &a.Theme, screen.Picture{}
	w = min(w, 70)
	p.Add(th.Line(w).Put(th.Strong, "I know it: ").Put("", th.Cut(d.what, w-len("I know it: "))))
	p.Lines = append(p.Lines, th.Wrapped(th.Dim, "It is not counted any more until it is over, gets worse or changes its cause, and then is told of again.", w)...)
	p.Add(th.Line(w))
	for i, f := range d.fields {
		lines, x, _ := f.draw(th, w-label, 1)
		if p.Lines = append(p.Lines, th.Line(label).Put(th.Dim, fieldNames[f.kind]).Done()+lines[0]); i == d.at {
			p.X, p.Y, p.Cursor = label+x, len(p.Lines)-1, w > label
		}
	}
	p.Add(th.Line(w).Skip(label).Put(th.Warn, d.fields[1].wrong()))
	key := func(i keys.Intent) string { return a.Keys.KeyIn(keys.InKnown, i) }
	l := th.Line(w).Put(th.Strong, key(keys.Press)).Put(th.Dim, " I know it   ").Put(th.Strong, key(keys.NextField)).Put(th.Dim, " next   ")
	p.Add(l.Put(th.Strong, key(keys.Cancel)).Put(th.Dim, " cancel"))
	return p
}

// mutesShown lists what is muted, and ends what a person chooses.
type mutesShown struct {
	at  int // the Mute under the cursor
	end func(mute.Mute) tea.Cmd
}

// ShowMutes opens the list of what is muted. end is called with the one that a person ends.
func ShowMutes(a *Acting, end func(mute.Mute) tea.Cmd) {
	if len(a.Muted.Mutes) == 0 {
		a.host.Say("nothing is muted")
		return
	}
	a.show(&mutesShown{end: end})
}

func (d *mutesShown) keyContext() keys.Context { return keys.InMenu }

func (d *mutesShown) do(a *Acting, i keys.Intent) tea.Cmd {
	switch i {
	case keys.Up:
		d.at--
	case keys.Down:
		d.at++
	case keys.Cancel:
		a.close()
	case keys.Choose:
		if d.at < len(a.Muted.Mutes) {
			return d.end(a.Muted.Mutes[d.at])
		}
	}
	d.update(a)
	return nil
}

// update closes the list when nothing is muted any more.
func (d *mutesShown) update(a *Acting) {
	d.at = max(min(d.at, len(a.Muted.Mutes)-1), 0)
	if len(a.Muted.Mutes) == 0 {
		a.close()
	}
}

func (d *mutesShown) picture(a *Acting, w, h int) screen.Picture {
	th, p := &a.Theme, screen.Picture{}
	p.Add(th.Line(w).Put(th.Strong, "Muted"))
	p.Add(th.Line(w))
	addChoices(a, &p, w, h, len(a.Muted.Mutes), d.at, "ends it", func(l *paint.Line, i int) {
		m := &a.Muted.Mutes[i]
		reason := m.Reason(a.Now)
		l.Put("", th.Cut(paint.Clean(m.Subject()), max(w-l.X-format.Width(reason)-2, 12))).Skip(2).Put(th.Dim, reason)
	})
	return p
}
