package record

import (
	"context"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/sources/tape"
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
	r := newBatcher(hub, &disk{}, tape.EncoderOptions{}, began, at(-time.Second))
	unwritten := ended(-time.Minute, -2*time.Second) // behind the last State, but not behind the last Input
	state := &sources.State{At: began,
		Scopes: []sources.Scope{{Source: "s", Since: at(-time.Hour), Dark: []sources.Dark{{From: at(-30 * time.Minute), To: at(-20 * time.Minute)}, {From: at(-time.Minute)}}}},
		Rows: []*sources.Row{{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindMutex},
			Terms: []sources.Term{ended(-30*time.Minute, -20*time.Minute), unwritten}}},
	}
	b := flushed(t, r, state, began)[0]
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
	r := newBatcher(hub, &disk{}, tape.EncoderOptions{}, time.Now(), time.Time{})
	for _, kind := range []sources.Kind{sources.KindMutex, sources.KindSemaphore} {
		row := sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: kind}}
		b := flushed(t, r, &sources.State{Scopes: []sources.Scope{{Source: "s"}}, Rows: []*sources.Row{&row}}, time.Now())[0]
		if len(b.Lanes) != 1 || b.Lanes[0].Kind != kind {
			t.Errorf("lanes %+v, want one that is a %v", b.Lanes, kind)
		}
	}
}

// flushed are the Batches that are written of a state.
func flushed(t *testing.T, r *batcher, state *sources.State, since time.Time) (all []*history.Batch) {
	t.Helper()
	err := r.derived.flush(&history.Batch{}, r.encoder, r.hub, state, since, func(b *history.Batch) error {
		all = append(all, b)
		return nil
	}, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestManyNewRowsAreWrittenInPieces(t *testing.T) {
	t.Parallel()
	hub := sources.NewHub(t.Context(), sources.HubOptions{})
	defer hub.Close()
	began := time.Now()
	r := newBatcher(hub, &disk{}, tape.EncoderOptions{}, began, time.Time{})
	state := &sources.State{Scopes: []sources.Scope{{Source: "s"}}}
	for i := range firstPiece + 3*piece - 1 {
		state.Rows = append(state.Rows, &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: "s", Name: strconv.Itoa(i)}}})
	}
	for _, c := range []struct {
		full int // the disk, at this one
		want []int
	}{{2, []int{firstPiece, piece}}, {0, []int{firstPiece, piece, piece, piece - 1}}} { // what was not written to its end is written again
		var sizes []int
		b := &history.Batch{Keyframe: []byte{}, Span: history.Span{From: began}}
		err := r.derived.flush(b, r.encoder, hub, state, began, func(b *history.Batch) error {
			if (b.Keyframe != nil) != (len(sizes) == 0) || b.Span.From != began {
				t.Errorf("batch %d has a keyframe: %t, and begins at %v", len(sizes), b.Keyframe != nil, b.Span.From)
			}
			if sizes = append(sizes, len(b.Lanes)); len(sizes) == c.full {
				return syscall.ENOSPC
			}
			return nil
		}, func() error { return nil })
		if !slices.Equal(sizes, c.want) || (err != nil) != (c.full > 0) {
			t.Errorf("batches of %v lanes, %v; want %v", sizes, err, c.want)
		}
	}
}

// TestTermsAreThoseOfTheInputs writes while a row changes: what a kill leaves then must agree.
func TestTermsAreThoseOfTheInputs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inputs := sources.NewInputBuffer(0, 0)
		hub := sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs})
		ctx, cancel := context.WithCancel(t.Context())
		s := sourcetest.NewScript()
		done := make(chan error, 1)
		go func() {
			done <- sources.Run(ctx, hub, []sources.Spec{{Name: "s", Type: "redis", Address: "a:1", Source: s}})
		}() // received below
		d := &disk{}
		r := newBatcher(hub, d, tape.EncoderOptions{}, sources.Wall(), time.Time{})
		owned := func() ([]sources.Input, uint64) { // after flush has begun
			p := &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindMutex, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told,
				Taken: 1, At: sources.Wall(), Owners: []sources.Owner{{ID: "a"}}}
			s.Push(sources.Change{At: p.At, Relists: true, Synced: true, Alive: []string{""}, Set: []*sources.Primitive{p}})
			time.Sleep(time.Second)
			return inputs.Take()
		}
		if err := r.flush(sources.Wall(), owned); err != nil {
			t.Error(err)
		}
		if b := d.written(); len(b) != 1 || len(b[0].Lanes) != 1 || len(b[0].Lanes[0].Terms) != 1 {
			t.Errorf("%+v: want the term whose beginning is in the inputs", b)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		hub.Close()
	})
}
