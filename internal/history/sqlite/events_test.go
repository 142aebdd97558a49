package sqlite

import (
	"testing"

	"coordtop/internal/ground/raced"
	"coordtop/internal/history"
	"coordtop/internal/history/storetest"
	"coordtop/sources"
)

// TestEventsOfEachVersionAreThoseThatAFilterChooses asks files of each version.
func TestEventsOfEachVersionAreThoseThatAFilterChooses(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it asks and compares in one goroutine")
	o := place(t)
	all := storetest.WriteEvents(t, placeOf(t, o))
	compare := func(version string) {
		t.Log(version)
		storetest.CompareEvents(t, store(t, o), all)
	}
	rowsOf(t, o, all)
	compare("version 5")
	change(t, o.Path, "drop index event_kind; alter table event drop column kind; alter table run drop column title; alter table run drop column color; alter table term drop column sure; alter table term drop column every; drop table part; pragma user_version = 1001")
	compare("the first version")
	if err := begun(t, o, 2*h).Close(); err != nil {
		t.Fatal(err)
	}
	compare("migrated")
	w := begun(t, o, 3*h)
	b := batchOf(3*h, 3*h+m)
	for seq := range uint64(20) {
		e := event(30*sec, "x1")
		e.Seq, e.Mono, e.Kind = seq+1, 0, sources.EventAcquired
		b.Events, all = append(b.Events, e), append(all, history.Event{Event: e, Run: 4})
	}
	write(t, w, b)
	compare("gone on with")
}
