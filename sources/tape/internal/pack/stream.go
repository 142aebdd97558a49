package pack

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// ErrNewer reports that what was read was written by a newer version.
var ErrNewer = errors.New("written by a newer version")

// ErrDamaged reports that what was read is cut, or was not written by this package.
var ErrDamaged = errors.New("damaged")

// Stream is a sequence of values that is being written, or read back. It belongs to one
// goroutine.
type Stream struct {
	// Disguise replaces texts while they are written, except for words; nil: they stay.
	Disguise func(string) string

	data    []byte // written; or not read yet
	reading bool
	err     error

	structs []*Fields // that were begun, one in the other; kept to spare allocations
	depth   int       // how many are not ended

	clock   int64 // the last Time, in Unix nanoseconds
	texts   []string
	numbers map[string]uint64 // of texts, while writing
}

// Write begins to append to dst what the following calls are given.
func (s *Stream) Write(dst []byte) { s.data, s.reading = dst, false }

// Read begins to read b by the following calls.
func (s *Stream) Read(b []byte) { s.data, s.reading, s.err = b, true, nil }

// Reading reports whether values are read.
func (s *Stream) Reading() bool { return s.reading }

// Rest is what was written, with what was before it, or what was not read.
func (s *Stream) Rest() []byte { return s.data }

// Err is why the last Read failed.
func (s *Stream) Err() error { return s.err }

// Fail ends the reading.
func (s *Stream) Fail(err error) {
	if s.err == nil && s.reading {
		s.err, s.data = err, nil
	}
}

// Forget begins anew: nothing that follows refers to a value before.
func (s *Stream) Forget() { s.clock, s.texts, s.numbers = 0, nil, map[string]uint64{} }

// Uint returns v, or what is read.
func (s *Stream) Uint(v uint64) uint64 {
	if !s.reading {
		s.data = binary.AppendUvarint(s.data, v)
		return v
	}
	v, n := binary.Uvarint(s.data)
	if n <= 0 {
		s.Fail(ErrDamaged)
		return 0
	}
	s.data = s.data[n:]
	return v
}

// Int is Uint of a number that is near to zero.
func (s *Stream) Int(v int64) int64 {
	u := s.Uint(uint64(v)<<1 ^ uint64(v>>63))
	return int64(u>>1) ^ -int64(u&1)
}

// Count is Uint of the length of what follows, each part of which takes a byte at least.
func (s *Stream) Count(n int) int {
	c := s.Uint(uint64(n))
	if s.reading && c > uint64(len(s.data)) {
		s.Fail(ErrDamaged)
		return 0
	}
	return int(c)
}

// longestKept is how long a text may be that is not written twice.
const longestKept = 256

// Word is a text that is never disguised.
func (s *Stream) Word(v string) string {
	if s.reading {
		return s.readWord()
	}
	if n, ok := s.numbers[v]; ok {
		s.Uint(n + 1)
		return v
	}
	s.Uint(0)
	s.Uint(uint64(len(v)))
	s.data = append(s.data, v...)
	if len(v) <= longestKept {
		s.numbers[v] = uint64(len(s.numbers))
	}
	return v
}

func (s *Stream) readWord() string {
	n := s.Uint(0)
	if n > uint64(len(s.texts)) {
		s.Fail(ErrDamaged)
		return ""
	}
	if n > 0 {
		return s.texts[n-1]
	}
	size := s.Count(0)
	v := string(s.data[:size])
	s.data = s.data[size:]
	if size <= longestKept && s.err == nil {
		s.texts = append(s.texts, v)
	}
	return v
}

// Text is a text of which the Disguise is written.
func (s *Stream) Text(v string) string {
	if !s.reading && s.Disguise != nil {
		v = s.Disguise(v)
	}
	return s.Word(v)
}

// How a time is written: that it is zero, or far from all others; else its distance.
const (
	zeroTime = iota
	farTime
	nearTime
)

// time is a time as its distance from guess, in Unix nanoseconds. What is read is local, and has
// no monotonic reading.
func (s *Stream) time(guess int64, t time.Time) time.Time {
	if s.reading {
		return s.readTime(guess)
	}
	distance := t.UnixNano() - guess
	code := uint64(distance)<<1 ^ uint64(distance>>63)
	switch {
	case t.IsZero():
		s.Uint(zeroTime)
	case code > math.MaxUint64-nearTime || !time.Unix(0, t.UnixNano()).Equal(t):
		s.Uint(farTime)
		s.Int(t.Unix())
		s.Uint(uint64(t.Nanosecond()))
	default:
		s.Uint(code + nearTime)
	}
	return t
}

func (s *Stream) readTime(guess int64) time.Time {
	switch code := s.Uint(0); code {
	case zeroTime:
		return time.Time{}
	case farTime:
		seconds, nanos := s.Int(0), s.Uint(0)
		if nanos >= uint64(time.Second) {
			s.Fail(ErrDamaged)
		}
		return time.Unix(seconds, int64(nanos))
	default:
		code -= nearTime
		return time.Unix(0, guess+(int64(code>>1)^-int64(code&1)))
	}
}
