package pack_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"coordtop/sources/tape/internal/pack"
)

// record has fields of several types, each written as what differs from an earlier one.
type record struct {
	at    time.Time
	text  string
	n     int64
	u     uint8
	on    bool
	part  float64
	lists []inner
}

type inner struct{ word string }

func pass(s *pack.Stream, v, was *record) { pack.Item(s, v, was, s, packRecord) }

func packRecord(s *pack.Stream, f *pack.Fields, v, was *record) {
	f.Time(&v.at, was.at)
	f.Text(&v.text, was.text)
	pack.Signed(f, &v.n, was.n)
	pack.Number(f, &v.u, was.u)
	f.Flag(&v.on, was.on)
	f.Float(&v.part, was.part)
	pack.List(f, &v.lists, was.lists, s, func(_ *pack.Stream, f *pack.Fields, v, was *inner) {
		f.Word(&v.word, was.word)
	})
}

func same(a, b *record) bool {
	if len(a.lists) != len(b.lists) || (a.lists == nil) != (b.lists == nil) {
		return false
	}
	for i := range a.lists {
		if a.lists[i] != b.lists[i] {
			return false
		}
	}
	return a.at == b.at && a.text == b.text && a.n == b.n && a.u == b.u && a.on == b.on && a.part == b.part
}

func TestEachValueComesBackBehindAnyOther(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_796_000_000, 1)
	values := []record{
		{}, {at: now}, {at: now.Add(1)}, {at: time.Unix(math.MaxInt64>>2, 999_999_999)}, {at: time.Unix(0, math.MinInt64)}, {at: time.Unix(0, math.MaxInt64)},
		{at: time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC).Local()}, {text: "a"}, {text: strings.Repeat("long", 100)}, {text: "\x00\xff"},
		{n: math.MinInt64}, {n: math.MaxInt64}, {u: 255}, {on: true}, {part: -0.5}, {part: math.Inf(1)},
		{lists: []inner{}}, {lists: []inner{{}}}, {lists: []inner{{"x"}, {}, {"y"}}}, {lists: []inner{{"x"}}},
	}
	var out, in pack.Stream
	out.Forget()
	out.Write(nil)
	var order []*record
	for i := range values {
		for j := range values {
			order = append(order, &values[i], &values[j])
		}
	}
	was := new(record)
	for _, v := range order {
		pass(&out, v, was)
		was = v
	}
	in.Read(out.Rest())
	was = new(record)
	for i, want := range order {
		got := new(record)
		if pass(&in, got, was); in.Err() != nil || !same(got, want) {
			t.Fatalf("%d: %+v is %+v (%v)", i, want, got, in.Err())
		}
		was = got
	}
	if len(in.Rest()) > 0 {
		t.Errorf("%d bytes are left", len(in.Rest()))
	}
}

func TestWhatIsUnchangedTakesOneByte(t *testing.T) {
	t.Parallel()
	v := record{at: time.Unix(1, 1), text: "a", n: 1, u: 1, on: true, part: 1, lists: []inner{{"x"}, {"y"}}}
	same := v
	same.lists = []inner{{"x"}, {"y"}}
	var s pack.Stream
	s.Forget()
	s.Write(nil)
	if pass(&s, &same, &v); len(s.Rest()) != 1 {
		t.Errorf("%d bytes", len(s.Rest()))
	}
}

func TestANumberThatHasNoRoomIsDamage(t *testing.T) {
	t.Parallel()
	var s pack.Stream
	s.Read([]byte{1 << 3, 0x80, 0x02})
	if pass(&s, new(record), new(record)); !errors.Is(s.Err(), pack.ErrDamaged) {
		t.Error(s.Err())
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{0}, []byte{1, 2, 3})
	f.Fuzz(func(_ *testing.T, a, b []byte) {
		var s pack.Stream
		was := new(record)
		for _, piece := range [][]byte{a, b} {
			for s.Read(piece); len(s.Rest()) > 0; {
				v := new(record)
				pass(&s, v, was)
				was = v
			}
		}
	})
}
