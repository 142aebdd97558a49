package sqlite

import (
	"encoding/binary"
	"reflect"
	"testing"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
	"coordtop/sources"
)

// encodeEvent is the body of e in a row, as versions before 6 wrote it.
func encodeEvent(e sources.Event) []byte {
	b := []byte{eventVersion}
	after := uint64(0) // how long before At; 0: told
	if !e.After.IsZero() {
		after = uint64(max(1, e.At.Sub(e.After)))
	}
	b = binary.AppendUvarint(b, after)
	number := func(n *uint64) { b = binary.AppendUvarint(b, *n) }
	text := func(s *string) { b = append(binary.AppendUvarint(b, uint64(len(*s))), *s...) }
	fields(&e, number, text)
	if e.Was != e.Now || e.LastSeen != e.Last || e.Gap.Every|e.Held.Every != 0 {
		more(&e, number, text)
	}
	return b
}

// rowsOf makes of a recording of these events one of version 5.
func rowsOf(t *testing.T, o Options, events []history.Event) {
	t.Helper()
	change(t, o.Path, "drop table block; drop table body; drop table running; drop table recent; pragma user_version = 1005")
	db, err := connect(o.Path, writing, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, e := range events {
		r := e.Ref
		if r.Name == "" {
			r = sources.Ref{}
		}
		if _, err := db.ExecContext(t.Context(), "insert into event(run, seq, at, lane, body, kind) values(?,?,?,coalesce((select id from lane where source = ? and space = ? and name = ?), 0),?,?)",
			e.Run, tables.Unsigned(e.Seq), e.At.UnixNano(), r.Source, r.Space, r.Name, encodeEvent(e.Event), e.Kind); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryFieldOfAnEventIsStored(t *testing.T) {
	t.Parallel()
	want := event(m, "x")
	for v, i := reflect.ValueOf(want), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() && v.Type().Field(i).Name != "Data" { // which is not recorded
			t.Errorf("the test has no %s", v.Type().Field(i).Name)
		}
	}
	got := sources.Event{Seq: want.Seq, At: want.At, Ref: want.Ref}
	if err := decodeEvent(&got, encodeEvent(want)); err != nil || !equal(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func FuzzDecodeEvent(f *testing.F) {
	f.Add(encodeEvent(event(m, "x")), true)
	f.Fuzz(func(_ *testing.T, b []byte, named bool) {
		var e sources.Event
		if named {
			e.Ref.Name = "x"
		}
		_ = decodeEvent(&e, b)
	})
}
