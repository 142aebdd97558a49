package pack

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// ErrNewer reports that a stream was written by a newer version.
var ErrNewer = errors.New("written by a newer version")

// ErrDamaged reports that a stream is cut, or was not written by this package.
var ErrDamaged = errors.New("damaged")

// Stream is a sequence of values that is being written, or read back. It is not safe for
// concurrent use.
type Stream struct {
	// Disguise replaces each Text while it is written. It may be nil.
	Disguise func(string) string

	data    []byte // the bytes written, or those not read yet
	reading bool
	err     error

	structs []*Fields // nested ones; reused
	depth   int       // number of structs that have not ended

	clock   int64 // the last Time, in Unix nanoseconds
	texts   []string
	numbers map[string]uint64 // numbers of texts, while writing
}

// Write starts writing: the following calls append to dst.
func (s *Stream) Write(dst []byte) { s.data, s.reading = dst, false }

// Read starts reading: the following calls read b.
func (s *Stream) Read(b []byte) { s.data, s.reading, s.err = b, true, nil }

// Reading reports whether the stream is being read, not written.
func (s *Stream) Reading() bool { return s.reading }

// Rest returns dst with everything that was written, or the bytes that were not read yet.
func (s *Stream) Rest() []byte { return s.data }

// Err returns the error that ended the reading.
func (s *Stream) Err() error { return s.err }

// Fail ends the reading.
func (s *Stream) Fail(err error) {
	if s.err == nil && s.reading {
		s.err, s.data = err, nil
	}
}

// Forget starts a new group: later values do not refer to earlier ones.
func (s *Stream) Forget() { s.clock, s.texts, s.numbers = 0, nil, map[string]uint64{} }

// Uint writes v and returns it, or reads a number and returns it.
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

// Int does the same as Uint for a signed number. Numbers near zero are short.
func (s *Stream) Int(v int64) int64 {
	u := s.Uint(uint64(v)<<1 ^ uint64(v>>63))
	return int64(u>>1) ^ -int64(u&1)
}

// Count does the same as Uint for the number of parts that follow, of at least one byte each.
func (s *Stream) Count(n int) int {
	c := s.Uint(uint64(n))
	if s.reading && c > uint64(len(s.data)) {
		s.Fail(ErrDamaged)
		return 0
	}
	return int(c)
}

// longestKept is the maximum length of a text that is written only once.
const longestKept = 256

// Word writes or reads a text that is never disguised.
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

// Text writes or reads a text that Disguise replaces.
func (s *Stream) Text(v string) string {
	if !s.reading && s.Disguise != nil {
		v = s.Disguise(v)
	}
	return s.Word(v)
}

// The first number of a time: zeroTime; farTime if the time is far from the guess; else nearTime plus the distance from
// the guess.
const (
	zeroTime = iota
	farTime
	nearTime
)

// time writes or reads a time as its distance from guess, in Unix nanoseconds. A time that is read is
// local, and has no monotonic reading.
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
