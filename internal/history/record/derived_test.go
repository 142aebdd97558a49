package record

import (
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// TestARunWritesWhatTheOneBeforeDidNot begins a run behind one that was killed, on a Hub that has
// observed for longer than it records.
func TestARunWritesWhatTheOneBeforeDidNot(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return began.Add(d) }
	ended := func(from, to time.Duration) sources.Term {
		return sources.Term{Owner: sources.OwnerRef{ID: "a"}, Start: sources.Stamp{At: at(from), How: sources.Seen}, End: sources.Stamp{At: at(to), How: sources.Seen}}
	}
	hub := sources.NewHub(t.Context(), sources.HubOptions{})
	defer hub.Close()
	r := newRun(hub, &disk{}, sources.EncoderOptions{}, began, at(-time.Second))
	unwritten := ended(-time.Minute, -2*time.Second) // behind the last State, but not behind the last Input
	state := &sources.State{At: began,
		Scopes: []sources.Scope{{Source: "s", Since: at(-time.Hour), Dark: []sources.Dark{{From: at(-30 * time.Minute), To: at(-20 * time.Minute)}, {From: at(-time.Minute)}}}},
		Rows: []*sources.Row{{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindMutex},
			Terms: []sources.Term{ended(-30*time.Minute, -20*time.Minute), unwritten}}},
	}
	b := &history.Batch{}
	r.derived.add(b, r.encoder, hub, state, began)
	if len(b.Lanes) != 1 || len(b.Lanes[0].Terms) != 1 || b.Lanes[0].Terms[0] != unwritten {
		t.Errorf("lanes %+v, want the term whose end may not be stored", b.Lanes)
	}
	if len(b.Dark) != 1 || b.Dark[0].Dark != (sources.Dark{From: began}) {
		t.Errorf("dark %+v, want nothing from before the run", b.Dark)
	}
}

func TestAChangeOfAKindIsWritten(t *testing.T) {
	t.Parallel()
	hub := sources.NewHub(t.Context(), sources.HubOptions{})
	defer hub.Close()
	r := newRun(hub, &disk{}, sources.EncoderOptions{}, time.Now(), time.Time{})
	for _, kind := range []sources.Kind{sources.KindMutex, sources.KindSemaphore} {
		b, row := &history.Batch{}, sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: kind}}
		r.derived.add(b, r.encoder, hub, &sources.State{Scopes: []sources.Scope{{Source: "s"}}, Rows: []*sources.Row{&row}}, time.Now())()
		if len(b.Lanes) != 1 || b.Lanes[0].Kind != kind {
			t.Errorf("lanes %+v, want one that is a %v", b.Lanes, kind)
		}
	}
}
