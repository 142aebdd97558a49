package recordtest

import (
	"slices"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

// sameDark compares what the file says of all that was not observed with what it says of each lane.
func sameDark(t *testing.T, store *sqlite.Reader) {
	t.Helper()
	runs, err := store.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	span := history.Bounds(runs, time.Now())
	dark, err := store.Dark(t.Context(), span)
	if err != nil {
		t.Fatal(err)
	}
	lanes, err := store.Lanes(t.Context(), nil, span)
	if err != nil || len(lanes) == 0 {
		t.Fatal(len(lanes), err)
	}
	for i := range lanes {
		l := &lanes[i]
		scope := scopeOf(l.Ref.Name)
		of := slices.DeleteFunc(slices.Clone(dark), func(d history.DarkChange) bool {
			return d.Source != "" && d.Ref != l.Ref && (d.Scope != scope || d.Ref != sources.Ref{})
		})
		for at := span.From; at.Before(span.To); at = at.Add(time.Second / 2) {
			in := func(d sources.Dark) bool { return !at.Before(d.From) && (d.To.IsZero() || at.Before(d.To)) }
			all := slices.ContainsFunc(of, func(d history.DarkChange) bool { return in(d.Dark) })
			if one := slices.ContainsFunc(l.Dark, in); all && !one || one && !all && !absent(l, at) {
				t.Errorf("%v at %v is not observed: %t, of all: %t", l.Ref, at, one, all)
				return
			}
		}
	}
}

// absent reports whether a lane has no row at an instant: that is no darkness of its source.
func absent(l *history.Lane, at time.Time) bool {
	return len(l.Dark) > 0 && l.Dark[len(l.Dark)-1].To.IsZero() && !at.Before(l.Dark[len(l.Dark)-1].From)
}
