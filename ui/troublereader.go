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

// troubleReader looks what went wrong, for the Trouble screen.
type troubleReader struct {
	part
	past    *pastReader // of the same recording
	replay  *replay
	at      time.Time // when it was looked what went wrong; zero: that is to be done
	running bool
}

// troubleMsg brings what went wrong.
type troubleMsg struct {
	in    trouble.Input
	found []trouble.Trouble
	names map[sources.Ref]string
	rows  []history.Summary
	dark  []history.DarkChange
	err   error
}

// read is the command that looks what went wrong, when it is time for that; nil: it is not.
func (r *troubleReader) read() tea.Cmd {
	if r.scene.Shown != screen.Trouble || r.past.context == nil || r.scene.State == nil {
		return nil
	}
	if r.running || !r.at.IsZero() && (r.scene.OnlyPast || r.scene.Clock.Sub(r.at).Abs() < troubleEvery) {
		return nil
	}
	r.running, r.at = true, r.scene.Clock
	h, ctx, all, now, clock, limits := r.past.history, r.past.context, r.scene.OnlyPast, r.scene.Now, r.scene.Clock, r.scene.State.Thresholds
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

// namesIn returns the names of refs, told apart from all that is recorded, which need not be shown now.
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

// have takes what was found.
func (r *troubleReader) have(msg troubleMsg) {
	s := &r.scene.Trouble
	r.running, s.Read, s.Error = false, true, ""
	if msg.err != nil {
		s.Error = paint.Clean(msg.err.Error())
		return
	}
	s.Span, s.Found, s.Names, s.Rows, s.Dark, s.Runs = msg.in.Span, msg.found, msg.names, msg.rows, msg.dark, msg.in.Runs
	s.Holes = msg.in.Holes()
	s.List.SetKeys(s.Places())
}

// move moves the cursor of the Trouble screen, over the heading between its two lists.
func (r *troubleReader) move(i keys.Intent) {
	s := &r.scene.Trouble
	was := s.List.Pos()
	moveIn(&s.List, i)
	for step := 1; s.Selected() == nil && s.SelectedRow() == nil && step >= -1; step -= 2 {
		if s.List.Pos() < was {
			step = -1
		}
		s.List.Move(step)
	}
}

// goTo goes to when the trouble under the cursor began, or to the Timeline of the row under it.
func (r *troubleReader) goTo() {
	t, row := r.scene.Trouble.Selected(), r.scene.Trouble.SelectedRow()
	switch {
	case t == nil && row == nil:
	case r.feeds.player == nil:
		r.host.Say("there is no recording to replay")
	case t == nil:
		r.goToRow(screen.Timeline, r.scene.Trouble.Span.To, row.Ref)
	default:
		r.goToRow(screen.Locks, begun(t), t.Refs...)
	}
}

// goToRow shows all screens as they were at an instant, with the cursor on the first of refs, if any.
func (r *troubleReader) goToRow(on screen.View, at time.Time, refs ...sources.Ref) {
	r.replay.list.unfocus()
	r.host.switchTo(on)
	r.replay.travel(at)
	if len(refs) > 0 {
		r.replay.wanted = refs[0]
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
