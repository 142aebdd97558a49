package ui

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/internal/history/trouble"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// What the Trouble screen reads: of a file all, of what this machine records the last hour.
const (
	troubleEvery = 30 * time.Second // while the present is shown
	troubleSpan  = time.Hour
	troubleOfAll = 24 * time.Hour // of a long recording its end
)

// troubleMsg brings what went wrong.
type troubleMsg struct {
	in    trouble.Input
	found []trouble.Trouble
	names map[sources.Ref]string
	err   error
}

// readTrouble is the command that looks what went wrong, when it is time for that; nil: it is not.
func (m *model) readTrouble() tea.Cmd {
	r := &m.troubleRead
	if m.Shown != screen.Trouble || m.asked.context == nil || m.State == nil {
		return nil
	}
	if r.running || !r.at.IsZero() && (m.OnlyPast || m.Clock.Sub(r.at).Abs() < troubleEvery) {
		return nil
	}
	r.running, r.at = true, m.Clock
	h, ctx, all, now, clock, limits := m.options.History, m.asked.context, m.OnlyPast, m.Now, m.Clock, m.State.Thresholds
	return func() tea.Msg {
		span := history.Span{From: now.Add(-troubleSpan), To: now}
		if runs, err := h.Runs(ctx); all && err == nil && len(runs) > 0 {
			span = history.Bounds(runs, clock)
			span.From = sources.Later(span.From, span.To.Add(-troubleOfAll))
		}
		in, err := trouble.Read(ctx, h, nil, span, nil, limits)
		found := trouble.Find(&in)
		var names map[sources.Ref]string
		if err == nil {
			names, err = namesIn(ctx, h, in.Lanes, found)
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, history.ErrNothing) {
			err = nil
		}
		return troubleMsg{in, found, names, err}
	}
}

// namesIn is what the primitives in trouble are called among all that is recorded, which need not be shown now.
func namesIn(ctx context.Context, h history.EventReader, lanes []history.Lane, found []trouble.Trouble) (map[sources.Ref]string, error) {
	all, names := sources.Names{}, map[sources.Ref]string{}
	for i := range lanes {
		all.Add(lanes[i].Ref.Name, i)
	}
	for i := range found {
		for _, ref := range found[i].Refs {
			names[ref] = all.Shown(ref, func(lane int32) sources.Ref { return lanes[lane].Ref })
		}
	}
	aliases, err := history.Aliases(ctx, h, slices.Collect(maps.Keys(names)))
	for ref, alias := range aliases {
		names[ref] = alias.Text + " " + names[ref]
	}
	return names, err
}

// haveTrouble takes what was found.
func (m *model) haveTrouble(msg troubleMsg) {
	s := &m.Trouble
	m.troubleRead.running, s.Read, s.Error = false, true, ""
	if msg.err != nil {
		s.Error = paint.Clean(msg.err.Error())
		return
	}
	s.Span, s.Found, s.Names, s.Unrecorded = msg.in.Span, msg.found, msg.names, msg.in.Unrecorded()
	places := make([]int, len(s.Found))
	for i := range places {
		places[i] = i
	}
	s.List.SetKeys(places)
}

// goToTrouble shows all screens as they were when the trouble under the cursor began, with the cursor on its row.
func (m *model) goToTrouble() {
	t := m.Trouble.Selected()
	if t == nil {
		return
	}
	if m.feeds.player == nil {
		m.Say("nothing is recorded here that could be shown again")
		return
	}
	m.switchTo(screen.Locks)
	if len(t.Refs) > 0 {
		m.cursorRow = t.Refs[0]
		m.Locks.Move(0) // it is chosen
	}
	m.replay.travel(begun(t))
}

// published is more than the time until what happens is in a State.
const published = 200 * time.Millisecond

// begun is an instant at which a trouble, and all that is part of it, can be seen.
func begun(t *trouble.Trouble) time.Time {
	at := t.From.Add(t.Spread + published)
	if t.To.After(t.From) && t.To.Before(at) {
		at = t.From
	}
	return at
}
