package pack

import (
	"encoding/binary"
	"math"
	"slices"
	"time"
)

// Fields is a struct of a Stream: each call that names a field, of the value and of the earlier
// one, writes it if it differs, or reads it. The calls come in one order.
type Fields struct {
	s    *Stream
	bits uint64 // of the fields that differ
	next uint64 // the bit of the next field
	at   int    // writing: where the bits stand
}

// Item is a struct of 63 fields at most, which item names. It is there even if nothing differs.
func Item[C, T any](s *Stream, v, was *T, c C, item func(c C, f *Fields, v, was *T)) {
	f := s.begin()
	item(c, f, v, was)
	f.end()
}

func (s *Stream) begin() *Fields {
	if s.depth == len(s.structs) {
		s.structs = append(s.structs, &Fields{s: s})
	}
	f := s.structs[s.depth]
	s.depth++
	f.bits, f.next = 0, 1
	if s.reading {
		f.bits = s.Uint(0)
	} else {
		f.at = len(s.data)
		s.data = append(s.data, 0)
	}
	return f
}

func (f *Fields) end() {
	s := f.s
	s.depth--
	switch {
	case s.reading && f.bits >= f.next:
		s.Fail(ErrNewer)
	case s.reading:
	case f.bits < 1<<7:
		s.data[f.at] = byte(f.bits)
	default:
		var b [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(b[:], f.bits)
		s.data[f.at] = b[0]
		s.data = slices.Insert(s.data, f.at+1, b[1:n]...)
	}
}

// Field reports whether the next field is to be written, which is so if it differs, or read.
func (f *Fields) Field(differs bool) bool {
	bit := f.next
	f.next <<= 1
	if f.s.reading {
		return f.bits&bit != 0 && f.s.err == nil
	}
	if differs {
		f.bits |= bit
	}
	return differs
}

// Value is a field that item writes or reads. What is written is not touched: others may read it.
func Value[C any, T comparable](f *Fields, v *T, was T, c C, item func(c C, v T) T) {
	there, now := f.Field(*v != was), was
	if there {
		now = item(c, *v)
	}
	if f.s.reading {
		*v = now
	}
}

// Flag is a bool.
func (f *Fields) Flag(v *bool, was bool) {
	if is := f.Field(*v != was) != was; f.s.reading {
		*v = is
	}
}

// Number is a number that is not negative.
func Number[T ~uint8 | ~uint16 | ~uint32 | ~uint64](f *Fields, v *T, was T) {
	Value(f, v, was, f.s, number)
}

func number[T ~uint8 | ~uint16 | ~uint32 | ~uint64](s *Stream, v T) T {
	n := s.Uint(uint64(v))
	if uint64(T(n)) != n {
		s.Fail(ErrDamaged)
	}
	return T(n)
}

// Enum is one of the numbers up to most; a larger one is news of a newer version.
func Enum[T ~uint8](f *Fields, v *T, was, most T) {
	Number(f, v, was)
	if f.s.reading && *v > most {
		*v = 0
		f.s.Fail(ErrNewer)
	}
}

// Signed is any number.
func Signed[T ~int | ~int32 | ~int64](f *Fields, v *T, was T) {
	Value(f, v, was, f.s, func(s *Stream, v T) T {
		n := s.Int(int64(v))
		if int64(T(n)) != n {
			s.Fail(ErrDamaged)
		}
		return T(n)
	})
}

// Float is a fraction.
func (f *Fields) Float(v *float64, was float64) {
	bits := math.Float64bits(*v)
	Number(f, &bits, math.Float64bits(was))
	if f.s.reading {
		*v = math.Float64frombits(bits)
	}
}

// Text is a text that may be disguised.
func (f *Fields) Text(v *string, was string) { Value(f, v, was, f.s, (*Stream).Text) }

// Word is a text of our own.
func (f *Fields) Word(v *string, was string) { Value(f, v, was, f.s, (*Stream).Word) }

// Time is a time near to that of the last call of Time that wrote one.
func (f *Fields) Time(v *time.Time, was time.Time) {
	Value(f, v, was, f.s, func(s *Stream, v time.Time) time.Time {
		if v = s.time(s.clock, v); !v.IsZero() {
			s.clock = v.UnixNano()
		}
		return v
	})
}

// TimeNear is a time near to guess; zero: near to that of the last call of Time.
func (f *Fields) TimeNear(v *time.Time, was, guess time.Time) {
	near := f.s.clock
	if !guess.IsZero() {
		near = guess.UnixNano()
	}
	Value(f, v, was, near, f.s.time)
}

// Plain is a list of what is compared and written as a whole, by item.
func Plain[C any, T comparable](f *Fields, v *[]T, was []T, c C, item func(c C, v T) T) {
	there := f.Field(!slices.Equal(*v, was) || (*v == nil) != (was == nil))
	switch {
	case f.s.reading && there:
		*v = made[T](f.s)
		for i := range *v {
			(*v)[i] = item(c, (*v)[i])
		}
	case f.s.reading:
		*v = was
	case there:
		length(f.s, *v)
		for _, one := range *v {
			item(c, one)
		}
	}
}

// made is a list of the length that is read.
func made[T any](s *Stream) []T {
	n, some := length[T](s, nil)
	if !some {
		return nil
	}
	return make([]T, n)
}

// length is how many elements a list has, and whether it is not nil.
func length[T any](s *Stream, list []T) (n int, some bool) {
	code := 0
	if list != nil {
		code = len(list) + 1
	}
	if !s.reading {
		s.Uint(uint64(code))
		return len(list), list != nil
	}
	c := s.Uint(0)
	if c > uint64(len(s.data))+1 {
		s.Fail(ErrDamaged)
		return 0, false
	}
	return max(int(c)-1, 0), c > 0
}

// List is a list of structs, each of which is written as what differs from that at the same
// place of the earlier list.
func List[C, T any](f *Fields, v *[]T, was []T, c C, item func(c C, f *Fields, v, was *T)) {
	s := f.s
	if s.reading {
		if !f.Field(false) {
			*v = was
			return
		}
		*v = made[T](s)
		zero := zeroFor(*v, was)
		for i := range *v {
			Item(s, &(*v)[i], earlier(was, i, zero), c, item)
		}
		return
	}
	alike := len(*v) == len(was) && (*v == nil) == (was == nil)
	if alike && (len(was) == 0 || &(*v)[0] == &was[0]) {
		f.Field(false)
		return
	}
	start, zero := len(s.data), zeroFor(*v, was)
	length(s, *v)
	for i := range *v {
		at := len(s.data)
		Item(s, &(*v)[i], earlier(was, i, zero), c, item)
		alike = alike && s.unchanged(at)
	}
	if f.Field(!alike); alike {
		s.data = s.data[:start]
	}
}

// earlier is what stood at the same place; nothing did: the zero value.
func earlier[T any](was []T, i int, zero *T) *T {
	if i < len(was) {
		return &was[i]
	}
	return zero
}

// zeroFor is a zero value for what is new in a list; nil: nothing is.
func zeroFor[T any](list, was []T) *T {
	if len(list) > len(was) {
		return new(T)
	}
	return nil
}

// unchanged reports whether the struct that was written from at on is like the earlier one.
func (s *Stream) unchanged(at int) bool { return len(s.data) == at+1 && s.data[at] == 0 }

// Struct is a struct within one.
func Struct[C, T any](f *Fields, v, was *T, c C, item func(c C, f *Fields, v, was *T)) {
	s := f.s
	if s.reading {
		if f.Field(false) {
			Item(s, v, was, c, item)
		} else {
			*v = *was
		}
		return
	}
	at := len(s.data)
	Item(s, v, was, c, item)
	alike := s.unchanged(at)
	if f.Field(!alike); alike {
		s.data = s.data[:at]
	}
}

// Pointer is a struct, written as a whole, or nil.
func Pointer[C, T any](f *Fields, v **T, c C, item func(c C, f *Fields, v, was *T)) {
	there := f.Field(*v != nil)
	if f.s.reading {
		*v = nil
		if there {
			*v = new(T)
		}
	}
	if there {
		var zero T
		Item(f.s, *v, &zero, c, item)
	}
}
