package ui

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/internal/history/trouble"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// What the Trouble screen reads: of a file its last 24 hours, of what this machine records the last hour.
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
	rows  []history.Summary
	dark  []history.DarkChange
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
		if all {
			if runs, err := h.Runs(ctx); err == nil && len(runs) > 0 {
				span = history.Bounds(runs, clock)
				span.From = sources.Later(span.From, span.To.Add(-troubleOfAll))
			}
		}
		in, err := trouble.Read(ctx, h, nil, span, nil, limits)
		msg := troubleMsg{in: in, found: trouble.Find(&in)}
		if err == nil && all {
			msg.rows = summaries(&in)
			msg.dark, err = h.Dark(ctx, span)
		}
		if err == nil {
			msg.names, err = namesIn(ctx, h, in.Lanes, msg.refs())
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, history.ErrNothing) {
			msg.err = err
		}
		return msg
	}
}

// mostSummaries is of how many primitives there is a line.
const mostSummaries = 1000

// summaries are a line for each primitive, those that lost most owners first.
func summaries(in *trouble.Input) []history.Summary {
	rows := make([]history.Summary, len(in.Lanes))
	for i := range in.Lanes {
		rows[i] = in.Lanes[i].Summary(in.Span)
	}
	slices.SortStableFunc(rows, func(a, b history.Summary) int {
		return cmp.Or(cmp.Compare(b.Losses, a.Losses), cmp.Compare(b.Longest.Min, a.Longest.Min), cmp.Compare(b.Terms, a.Terms))
	})
	return rows[:min(len(rows), mostSummaries)]
}

// refs are the primitives that are named.
func (msg *troubleMsg) refs() (refs []sources.Ref) {
	for i := range msg.found {
		refs = append(refs, msg.found[i].Refs...)
	}
	for i := range msg.rows {
		refs = append(refs, msg.rows[i].Ref)
	}
	slices.SortFunc(refs, sources.Ref.Compare)
	return slices.Compact(refs)
}

// namesIn is what refs are called among all that is recorded, which need not be shown now.
func namesIn(ctx context.Context, h history.EventReader, lanes []history.Lane, refs []sources.Ref) (map[sources.Ref]string, error) {
	all, names := sources.Names{}, map[sources.Ref]string{}
	for i := range lanes {
		all.Add(lanes[i].Ref.Name, i)
	}
	for _, ref := range refs {
		names[ref] = all.Shown(ref, func(lane int32) sources.Ref { return lanes[lane].Ref })
	}
	aliases, err := history.Aliases(ctx, h, refs)
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
	s.Span, s.Found, s.Names, s.Rows, s.Dark, s.Runs = msg.in.Span, msg.found, msg.names, msg.rows, msg.dark, msg.in.Runs
	s.Holes = msg.in.Holes()
	s.List.SetKeys(s.Places())
}

// moveTrouble moves the cursor of the Trouble screen, over the heading between its two lists.
func (m *model) moveTrouble(i keys.Intent) {
	s := &m.Trouble
	was := s.List.Pos()
	moveIn(&s.List, i)
	for step := 1; s.Selected() == nil && s.SelectedRow() == nil && step >= -1; step -= 2 {
		if s.List.Pos() < was {
			step = -1
		}
		s.List.Move(step)
	}
}

// goToTrouble goes to when the trouble under the cursor began, or to the Timeline of the row under it.
func (m *model) goToTrouble() {
	t, row := m.Trouble.Selected(), m.Trouble.SelectedRow()
	switch {
	case t == nil && row == nil:
	case m.feeds.player == nil:
		m.Say("there is no recording to replay")
	case t == nil:
		m.goToRow(screen.Timeline, m.Trouble.Span.To, row.Ref)
	default:
		m.goToRow(screen.Locks, begun(t), t.Refs...)
	}
}

// goToRow shows all screens as they were at an instant, with the cursor on the first of refs, if any.
func (m *model) goToRow(on screen.View, at time.Time, refs ...sources.Ref) {
	m.switchTo(on)
	m.replay.travel(at)
	if len(refs) > 0 {
		m.replay.wanted = refs[0]
	}
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
