package storetest

import (
	"reflect"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// Writer is a record.Output.
type Writer interface {
	Write(b *history.Batch) error
	Tidy(now time.Time) (done bool, err error)
	Close() error
}

// Reader reads a store.
type Reader interface {
	history.Reader
	history.Log
	Close() error
}

// Place is a store, which is empty at first.
type Place struct {
	Begin func(history.Run) (Writer, error)
	Read  func() Reader
}

// Open makes a store that keeps its records for a time; 0: as long as usual.
type Open func(t *testing.T, keep time.Duration) Place

// Begun returns a Writer of a run that began so long after T0. It is closed when the test ends.
func Begun(t *testing.T, o Place, began time.Duration) Writer {
	t.Helper()
	w, err := o.Begin(history.Run{Span: history.Span{From: After(began)}, Host: "here", PID: 1, Version: "v"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// Store returns a Reader, which is closed when the test ends.
func Store(t *testing.T, o Place) Reader {
	t.Helper()
	s := o.Read()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// T0 is the instant at which the runs of a test begin.
var T0 = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// After is an instant after T0.
func After(d time.Duration) time.Time { return T0.Add(d) }

// Ref is a primitive.
func Ref(name string) sources.Ref { return sources.Ref{Source: "leases", Space: "0", Name: name} }

// Seen is a stamp of an instant after T0.
func Seen(d time.Duration) sources.Stamp { return sources.Stamp{At: After(d), How: sources.Seen} }

// Term is a term of an owner; without an end if to is zero.
func Term(owner string, from, to time.Duration) sources.Term {
	t := sources.Term{Owner: sources.OwnerRef{ID: owner, Fence: 7}, Start: Seen(from)}
	if to != 0 {
		t.End, t.Cause, t.How = Seen(to), sources.CauseReleased, sources.Inferred
	}
	return t
}

// BatchOf is a Batch from one instant to another, whose group is of no interest.
func BatchOf(from, to time.Duration, lanes ...history.LaneChange) *history.Batch {
	return &history.Batch{
		Keyframe: []byte("key"), Inputs: []byte("inputs"), Count: 1, Seq: [2]uint64{1, 2},
		Span: history.Span{From: After(from), To: After(to)}, Lanes: lanes,
	}
}

func Write(t *testing.T, w Writer, b *history.Batch) {
	t.Helper()
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
}

// Span is the time from one instant to another.
func Span(from, to time.Duration) history.Span { return history.Span{From: After(from), To: After(to)} }

// LaneOf returns the recorded lane of one primitive.
func LaneOf(t *testing.T, s Reader, name string, span history.Span) history.Lane {
	t.Helper()
	lanes, err := s.Lanes(t.Context(), []sources.Ref{Ref(name)}, span)
	if err != nil {
		t.Fatal(err)
	}
	return lanes[0]
}

// Equal compares what was stored: the zone of a time is not.
func Equal(a, b any) bool {
	return reflect.DeepEqual(local(reflect.ValueOf(a)), local(reflect.ValueOf(b)))
}

func local(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Slice:
		var list []any
		for i := range v.Len() {
			list = append(list, local(v.Index(i)))
		}
		return list
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			return at.UnixNano()
		}
		if s, ok := v.Interface().(sources.Stamp); ok {
			return [3]any{s.At.UnixNano(), s.How, s.After().UnixNano()}
		}
		var list []any
		for i := range v.NumField() {
			list = append(list, local(v.Field(i)))
		}
		return list
	}
	return v.Interface()
}

// Event has something in every field.
func Event(at time.Duration, name string) sources.Event {
	who := func(id string) sources.OwnerRef { return sources.OwnerRef{ID: id, Label: "l" + id, Fence: 1 << 63} }
	return sources.Event{
		Seq: 1 << 63, At: After(at), After: After(at - sec), Mono: at, Kind: sources.EventOwnerChanged, RefKind: sources.KindMutex, Cause: sources.CauseExpired, How: sources.Inferred,
		Ref: Ref(name), Alias: "alias", AliasHow: sources.Told, Owner: who("o"), Previous: who("p"), Last: who("q"), LastSeen: who("r"), Loss: true, LeaseLeft: -3,
		Gap: sources.Interval{Min: 1, Max: sources.Endless, Every: 7}, Held: sources.Interval{Min: 5, Max: 6, Every: 8}, Scope: "sc", Detail: "d",
		Was: sources.Counts{Taken: 1, Limit: 2, Waiting: 3}, Now: sources.Counts{Taken: 4, Limit: 5, Waiting: 6},
	}
}

func Tidied(t *testing.T, w Writer, now time.Time) (steps int) {
	t.Helper()
	for {
		steps++
		done, err := w.Tidy(now)
		if err != nil {
			t.Fatal(err)
		}
		if done {
			return steps
		}
		if steps > 10_000 {
			t.Fatal("it never ends")
		}
	}
}
