package history

import (
	"context"
	"time"

	"coordtop/sources"
)

// hindsight holds the unobserved times of a stretch of the recording. A silent source was not observed from its last
// answer on, although that was noticed only seconds later. A replay can show it from that answer on.
type hindsight struct {
	span Span
	dark []DarkChange
}

const (
	foreseen     = time.Minute      // length of a stretch that is read at once
	unsure       = 10 * time.Second // most time until a silence is noticed; younger stretches are read again
	betweenLooks = time.Second      // shorter stretches of single rows are not shown as not observed, because any polled row has such gaps between two polls
)

// read reads the minute that begins at an instant, unless that instant was read already.
func (h *hindsight) read(ctx context.Context, reader EventReader, at time.Time) error {
	if reader == nil || !at.Before(h.span.From) && at.Before(h.span.To) {
		return nil
	}
	span := Span{From: at, To: at.Add(foreseen)}
	known := sources.Earlier(span.To, time.Now().Add(-unsure))
	dark, err := reader.Dark(ctx, span)
	if err == nil {
		h.span, h.dark = Span{From: at, To: known}, dark
	}
	return err
}

// at returns the unobserved stretches that contain an instant.
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

// darkened returns s with the scopes and rows in dark shown as not observed.
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
