package history

import (
	"context"
	"time"

	"coordtop/sources"
)

// hindsight has the times of a stretch that were not observed. A source is silent from its last answer on, but
// that is noticed seconds later: a replay can show it from the beginning.
type hindsight struct {
	span Span
	dark []DarkChange
}

const (
	foreseen     = time.Minute      // is read at a time
	unsure       = 10 * time.Second // may pass until a silence is noticed: what is younger is read again
	betweenLooks = time.Second      // a single row is not drawn as not observed for less: that lies between two looks of any row that is polled
)

// read reads the minute from an instant on, unless it is known.
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

// at returns the stretches without observation that an instant lies in.
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

// darkened returns s with what was not observed then shown as such.
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
