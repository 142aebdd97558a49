package dialog

import (
	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/format"
	"coordtop/internal/mute"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

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
