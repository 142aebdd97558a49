package tape

import (
	"reflect"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest/filled"
	"pgregory.net/rapid"
)

// TestFactsComeBack draws terms and events of some primitives, with each field set here and there, and damages what they were
// written as.
func TestFactsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		some := func() func(int) bool {
			bits := rapid.Uint64().Draw(t, "leaves")
			return func(leaf int) bool { return bits>>(leaf%64)&1 != 0 }
		}
		terms, events := []TermFact{}, []EventFact{}
		for i := range rapid.IntRange(0, 6).Draw(t, "terms") {
			f, _ := filled.Value[TermFact](some())
			f.Start, f.End = sources.StampBetween(time.Time{}, minute(i), sources.Seen), sources.StampBetween(minute(i), minute(i+1), sources.Known(i%2)*sources.Seen)
			terms = append(terms, *f)
		}
		for range rapid.IntRange(0, 6).Draw(t, "events") {
			f, _ := filled.Value[EventFact](some())
			f.Mono, f.Ref = 0, sources.Ref{}
			events = append(events, *f)
		}
		e, d := NewEncoder(EncoderOptions{}), NewDecoder()
		first := e.Terms(nil, terms)
		second := e.Events(nil, events, terms)
		if again, err := d.Terms(first); err != nil || !reflect.DeepEqual(again, terms) {
			t.Fatalf("terms were\n%+v\nand are\n%+v, %v", terms, again, err)
		}
		if again, err := d.Events(second, terms); err != nil || !reflect.DeepEqual(again, events) {
			t.Fatalf("events were\n%+v\nand are\n%+v, %v", events, again, err)
		}
		for _, b := range [][]byte{first, second} {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			_, _ = d.Terms(b) // whatever it is, it does no harm
			_, _ = d.Events(b, terms)
		}
	})
}

func minute(n int) time.Time { return time.Unix(1_700_000_000+int64(n)*60, 0) }
