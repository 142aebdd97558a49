package history

import (
	"context"
	"time"

	"coordtop/sources"
)

// hindsight is what of a stretch of a recording turned out not to have been observed, also where that was noticed later.
type hindsight struct {
	span Span
	dark []DarkChange
}

// For how long what was read holds, and how long before now the recording may not yet say what was not observed.
const (
	foreseen = time.Minute
	unsure   = 10 * time.Second
)

// betweenLooks is what a row is not observed for at least that is drawn so: for less any polled row may be otherwise
// between two looks, which its lane says.
const betweenLooks = time.Second

// read brings it up to date for an instant.
func (h *hindsight) read(ctx context.Context, reader EventReader, at time.Time) (err error) {
	if reader == nil || !at.Before(h.span.From) && at.Before(h.span.To) {
		return nil
	}
	span := Span{From: at, To: at.Add(foreseen)}
	h.span = Span{From: at, To: sources.Earlier(span.To, time.Now().Add(-unsure))}
	h.dark, err = reader.Dark(ctx, span)
	return err
}

// at is what was not observed at an instant.
func (h *hindsight) at(t time.Time) []DarkChange {
	var dark []DarkChange
	for _, d := range h.dark {
		if lasted := d.Dark.To.Sub(d.Dark.From); d.Ref != (sources.Ref{}) && 0 < lasted && lasted < betweenLooks {
			continue
		}
		if !t.Before(d.Dark.From) && (d.Dark.To.IsZero() || t.Before(d.Dark.To)) {
			dark = append(dark, d)
		}
	}
	return dark
}

// darkened is a State as it is drawn by somebody who knows of dark.
func darkened(s *sources.State, dark []DarkChange) *sources.State {
	if len(dark) == 0 {
		return s
	}
	since := map[DarkChange]time.Time{}
	for _, d := range dark {
		from := d.Dark.From
		d.Dark = sources.Dark{}
		since[d] = from
	}
	return s.Darkened(func(c *sources.Scope, row *sources.Row) time.Time {
		if row != nil {
			return since[DarkChange{Source: row.Source, Ref: row.Ref}]
		}
		return since[DarkChange{Source: c.Source, Scope: c.Name}]
	})
}
