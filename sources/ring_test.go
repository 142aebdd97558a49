package sources

import (
	"slices"
	"testing"
	"time"
)

func kinds(n int, kind EventKind) []Event {
	events := make([]Event, n)
	for i := range events {
		events[i].Kind = kind
	}
	return events
}

func seqs(events []Event) []uint64 {
	var s []uint64
	for _, e := range events {
		s = append(s, e.Seq)
	}
	return s
}

func TestRenewalsDoNotPushOutChanges(t *testing.T) {
	t.Parallel()
	r := newRing(100, time.Hour)
	r.append(kinds(3, EventExpired))
	r.append(kinds(10_000, EventRenewed))
	events, missed := r.subscribe(0).Events(3)
	if !slices.Equal(seqs(events), []uint64{1, 2, 3}) || missed != 0 {
		t.Errorf("the oldest are %v, %d missed", seqs(events), missed)
	}
	if kept := r.changes.len() + r.renewals.len(); kept != 100 {
		t.Errorf("%d events are kept, want 100", kept)
	}
	r.append(kinds(1000, EventExpired))
	if r.changes.len() != 75 || r.renewals.len() != 25 {
		t.Errorf("%d changes and %d renewals are kept, want a quarter for renewals", r.changes.len(), r.renewals.len())
	}
}

func TestEventsAreReadInOrderAcrossLanesAndChunks(t *testing.T) {
	t.Parallel()
	r := newRing(10_000, time.Hour)
	sub := r.subscribe(0)
	for i := range 3 * chunkItems {
		kind := EventRenewed
		if i%3 == 0 {
			kind = EventReleased
		}
		r.append(kinds(1, kind))
	}
	want := uint64(0)
	for {
		events, missed := sub.Events(100)
		if missed != 0 {
			t.Fatalf("%d missed", missed)
		}
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			if want++; e.Seq != want || (e.Kind == EventReleased) != ((want-1)%3 == 0) {
				t.Fatalf("read %d %v, want %d", e.Seq, e.Kind, want)
			}
		}
	}
	if want != 3*chunkItems {
		t.Errorf("%d events were read of %d", want, 3*chunkItems)
	}
}

func TestLaggardIsToldHowManyItMissed(t *testing.T) {
	t.Parallel()
	r := newRing(10, time.Hour)
	sub := r.subscribe(0)
	r.append(kinds(25, EventReleased))
	events, missed := sub.Events(4)
	if !slices.Equal(seqs(events), []uint64{16, 17, 18, 19}) || missed != 15 {
		t.Errorf("read %v, missed %d, want 16 to 19 and 15", seqs(events), missed)
	}
	r.append(kinds(5, EventReleased))
	events, missed = sub.Events(0)
	if len(events) != 10 || events[0].Seq != 21 || missed != 1 {
		t.Errorf("read %v, missed %d, want 21 to 30 and 1", seqs(events), missed)
	}
	if late, missed := r.subscribe(0).Events(0); len(late) != 10 || missed != 0 {
		t.Errorf("who asks for all that is kept reads %d and misses %d, want 10 and 0", len(late), missed)
	}
	if late, missed := r.subscribe(5).Events(0); len(late) != 10 || missed != 15 {
		t.Errorf("who goes on from 5 reads %d and misses %d, want 10 and 15", len(late), missed)
	}
}

func TestEventsGrowOld(t *testing.T) {
	t.Parallel()
	r := newRing(1000, time.Hour)
	for i := range 10 {
		e := kinds(1, EventReleased)
		e[0].Mono = time.Duration(i) * 10 * time.Minute
		r.append(e)
	}
	if r.changes.len() != 7 {
		t.Errorf("%d events are kept, want those of the last hour", r.changes.len())
	}
	r.expire(3 * time.Hour)
	if r.changes.len() != 0 {
		t.Errorf("%d events are kept after three hours", r.changes.len())
	}
	r.append(kinds(1, EventReleased))
	if events, _ := r.subscribe(10).Events(0); len(events) != 1 {
		t.Errorf("read %v", seqs(events))
	}
}

func TestWhatWasThereAlreadyIsKeptUntilAllHaveReadItAndForAWhile(t *testing.T) {
	t.Parallel()
	r := newRing(1000, time.Hour)
	r.lean = true
	r.append(kinds(3, EventPresent))
	r.append(kinds(1, EventReleased))
	one, other := r.subscribe(0), r.subscribe(0)
	one.Events(0)
	r.expire(2 * time.Minute)
	if events, missed := other.Events(0); len(events) != 4 || missed != 0 {
		t.Errorf("after two minutes the second reads %v and misses %d", seqs(events), missed)
	}
	r.expire(presentAge)
	if n := r.renewals.len(); n != 3 {
		t.Errorf("%d are kept in the first seconds", n)
	}
	r.expire(presentAge + 1)
	if n, changes := r.renewals.len(), r.changes.len(); n != 0 || changes != 1 {
		t.Errorf("after it %d are kept, and %d changes", n, changes)
	}
	if events, missed := r.subscribe(0).Events(0); len(events) != 1 || missed != 0 {
		t.Errorf("who comes later reads %v and misses %d", seqs(events), missed)
	}
}

func TestDroppedEventsFreeTheirMemory(t *testing.T) {
	t.Parallel()
	var l eventQueue
	for range 10 * chunkItems {
		l.push(&Event{})
		l.drop()
	}
	if len(l.chunks) > 1 {
		t.Errorf("%d chunks for no event", len(l.chunks))
	}
}
