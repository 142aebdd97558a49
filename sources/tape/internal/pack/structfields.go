package pack

import (
	"encoding/binary"
	"math"
	"slices"
	"time"
)

// Fields is a struct in a Stream. Each call gets a field of the value and of the earlier value. It writes the field if
// they differ, or reads it. The order of the calls is fixed.
type Fields struct {
	s    *Stream
	bits uint64 // one for each field that differs
	next uint64 // the bit of the next field
	at   int    // while writing: the index of the bits
}

// Item writes or reads a struct of at most 63 fields, which item names. It is written even if nothing differs.
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

// Field reports whether to write the next field, because it differs, or to read it.
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

// Value handles a field that item writes or reads. It does not assign to a written value, because others may read it.
func Value[C any, T comparable](f *Fields, v *T, was T, c C, item func(c C, v T) T) {
	there, now := f.Field(*v != was), was
	if there {
		now = item(c, *v)
	}
	if f.s.reading {
		*v = now
	}
}

// Flag writes or reads a bool.
func (f *Fields) Flag(v *bool, was bool) {
	if is := f.Field(*v != was) != was; f.s.reading {
		*v = is
	}
}

// Number writes or reads an unsigned number.
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

// Enum writes or reads a number that is at most most; a larger one was written by a newer version.
func Enum[T ~uint8](f *Fields, v *T, was, most T) {
	Number(f, v, was)
	if f.s.reading && *v > most {
		*v = 0
		f.s.Fail(ErrNewer)
	}
}

// Signed writes or reads a signed number.
func Signed[T ~int | ~int32 | ~int64](f *Fields, v *T, was T) {
	Value(f, v, was, f.s, func(s *Stream, v T) T {
		n := s.Int(int64(v))
		if int64(T(n)) != n {
			s.Fail(ErrDamaged)
		}
		return T(n)
	})
}

// Float writes or reads a float64.
func (f *Fields) Float(v *float64, was float64) {
	bits := math.Float64bits(*v)
	Number(f, &bits, math.Float64bits(was))
	if f.s.reading {
		*v = math.Float64frombits(bits)
	}
}

// Text writes or reads a text that may be disguised.
func (f *Fields) Text(v *string, was string) { Value(f, v, was, f.s, (*Stream).Text) }

// Word writes or reads a text that is never disguised.
func (f *Fields) Word(v *string, was string) { Value(f, v, was, f.s, (*Stream).Word) }

// Time writes or reads a time near to the last one that Time wrote or read.
func (f *Fields) Time(v *time.Time, was time.Time) {
	Value(f, v, was, f.s, func(s *Stream, v time.Time) time.Time {
		if v = s.time(s.clock, v); !v.IsZero() {
			s.clock = v.UnixNano()
		}
		return v
	})
}

// TimeNear writes or reads a time near to guess, or near to the last one of Time if guess is zero.
func (f *Fields) TimeNear(v *time.Time, was, guess time.Time) {
	near := f.s.clock
	if !guess.IsZero() {
		near = guess.UnixNano()
	}
	Value(f, v, was, near, f.s.time)
}

// Plain writes or reads a list that is compared as a whole; item writes or reads each element.
func Plain[C any, T comparable](f *Fields, v *[]T, was []T, c C, item func(c C, v T) T) {
	there := f.Field(!slices.Equal(*v, was) || (*v == nil) != (was == nil))
	if f.s.reading {
		*v = was
	}
	if !there {
		return
	}
	list := sized(f.s, *v)
	for i := range list {
		if one := item(c, list[i]); f.s.reading {
			list[i] = one
		}
	}
	if f.s.reading {
		*v = list
	}
}

// sized writes the length of a list and returns the list, or reads a length and returns a new list of it.
func sized[T any](s *Stream, list []T) []T {
	code := uint64(0) // 0 for nil, else the length plus one
	if list != nil {
		code = uint64(len(list)) + 1
	}
	switch code = s.Uint(code); {
	case !s.reading:
		return list
	case code > uint64(len(s.data))+1:
		s.Fail(ErrDamaged)
		return nil
	case code == 0:
		return nil
	}
	return make([]T, code-1)
}

// List writes or reads a list of structs, each as its difference from the one at the same place of the earlier list.
func List[C, T any](f *Fields, v *[]T, was []T, c C, item func(c C, f *Fields, v, was *T)) {
	s := f.s
	if s.reading {
		if !f.Field(false) {
			*v = was
			return
		}
		*v = sized[T](s, nil)
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
	sized(s, *v)
	for i := range *v {
		at := len(s.data)
		Item(s, &(*v)[i], earlier(was, i, zero), c, item)
		alike = alike && s.unchanged(at)
	}
	if f.Field(!alike); alike {
		s.data = s.data[:start]
	}
}

// earlier returns the struct at the same place of the earlier list, or zero.
func earlier[T any](was []T, i int, zero *T) *T {
	if i < len(was) {
		return &was[i]
	}
	return zero
}

// zeroFor returns a zero value for the new structs of a list, or nil for a list without new ones.
func zeroFor[T any](list, was []T) *T {
	if len(list) > len(was) {
		return new(T)
	}
	return nil
}

// unchanged reports whether the struct written from at on equals the earlier one.
func (s *Stream) unchanged(at int) bool { return len(s.data) == at+1 && s.data[at] == 0 }

// Struct writes or reads a nested struct.
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

// Pointer writes or reads a pointer: nil, or a struct as a whole.
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
