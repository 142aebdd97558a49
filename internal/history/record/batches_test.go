package record

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// slow is a disk that takes its time, in which something happens.
type slow struct {
	disk
	happens func()
}

func (s *slow) Write(b *history.Batch) error {
	s.happens()
	time.Sleep(every)
	return s.disk.Write(b)
}

// TestInputsAreWrittenWhileMuchElseIs has thousands of events to write. What happens meanwhile is what a kill would lose.
func TestInputsAreWrittenWhileMuchElseIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inputs := sources.NewInputBuffer(0, 0)
		hub := sources.NewHub(t.Context(), sources.HubOptions{Recorder: inputs})
		defer hub.Close()
		happens := func() {
			hub.AddEvent(sources.Event{Kind: sources.EventAction, Ref: sources.Ref{Source: "s", Name: "n"}})
		}
		for range 4 * piece {
			happens()
		}
		d := &slow{happens: happens}
		r := newBatcher(hub, d, tape.EncoderOptions{}, time.Now(), time.Time{})
		if err := r.flush(hub.Now().Wall, inputs.Take); err != nil {
			t.Fatal(err)
		}
		batches := d.written()
		if len(batches) < 6 || batches[0].Keyframe == nil || batches[0].Count < 4*piece || !r.group.open {
			t.Fatalf("%d batches, the first with %d inputs", len(batches), batches[0].Count)
		}
		seq, alone := batches[0].Seq[1], 0
		for i, b := range batches[1:] {
			if b.Count == 0 {
				continue
			}
			if alone++; b.Seq[0] != seq+1 || len(b.Events) > 0 || !b.Span.From.Before(b.Span.To) || len(batches[i].Events) == 0 {
				t.Errorf("batch %d has the inputs %v behind %d, and %d events, of %v to %v", i+1, b.Seq, seq, len(b.Events), b.Span.From, b.Span.To)
			}
			seq = b.Seq[1]
		}
		if alone < 3 {
			t.Errorf("%d of %d batches have what happened meanwhile", alone, len(batches))
		}
	})
}

// TestWhereNothingComesMeanwhileNoClockIsAsked: the Hub of a recording that is copied has none.
func TestWhereNothingComesMeanwhileNoClockIsAsked(t *testing.T) {
	t.Parallel()
	since := time.Now()
	r := newBatcher(nil, &disk{}, tape.EncoderOptions{}, since, time.Time{})
	if until, err := r.meanwhile(since, func() ([]sources.Input, uint64) { return nil, 0 }); err != nil || until != since {
		t.Errorf("%v %v", until, err)
	}
}
