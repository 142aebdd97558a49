package dflockwire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"coordtop/internal/failure"
)

// Stats is what a server says of itself, see the package's comment.
type Stats struct {
	Asked       time.Time
	Answered    time.Time // when the answer began, which the server had made by then
	Connections int
	Signals     bool // it lists signals, as versions 1.11 to 1.16 do
}

// Entry is one key that a server lists.
type Entry struct {
	Key       string
	Semaphore bool // its limit is more than 1
	Idle      bool // nobody uses it, and it has nothing else but Unused
	Limit     int
	Taken     int
	Waiters   int
	Owner     uint64        // id of the connection that owns a lock; 0: nobody
	Left      time.Duration // of the lease of a lock; 0: it has run out, or there is no owner
	Unused    time.Duration // for how long
}

const (
	mostStats = 128 << 20 // bytes of an answer to stats, which is never kept as a whole
	mostValue = 64 << 10  // bytes of a key with all that is listed of it, or of another text or number
	mostDepth = 32        // of values that are skipped
)

// Stats asks for everything, and calls each for each key while the answer comes in: with an
// error that is not all, and nothing of it counts. The Entry is valid only during the call.
func (c *Conn) Stats(ctx context.Context, each func(*Entry)) (s Stats, err error) {
	s.Asked, s.Answered, err = c.request(ctx, c.patience, "stats", "_", "", func(r *bufio.Reader) error { return s.take(r, each) })
	return s, err
}

// take reads an answer.
func (s *Stats) take(r *bufio.Reader, each func(*Entry)) error {
	if head, _ := r.Peek(len("ok ")); string(head) != "ok " { // its error is that of readLine, too
		text, err := readLine(r)
		if err != nil {
			return err
		}
		word, _, _ := strings.Cut(string(text), " ")
		return cmp.Or(refusal(word), unexpected("the answer to the command stats"))
	}
	_, _ = r.Discard(len("ok ")) // they are there
	in := &line{r: r, left: mostStats, value: mostValue}
	l := listing{Decoder: json.NewDecoder(in), line: in}
	l.UseNumber()
	err := s.read(l, each)
	if err == nil {
		if _, err = l.Token(); err == io.EOF {
			return nil
		}
	}
	if in.err != nil && in.err != io.EOF {
		return in.err
	}
	return unexpected("the object of stats")
}

// line is the rest of a line, which ends with io.EOF.
type line struct {
	r     *bufio.Reader
	left  int   // bytes that may still come
	value int   // and that may come until the next value
	err   error // of the last Read
}

func (l *line) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	if _, err := l.r.Peek(1); err != nil {
		l.err = failure.With(ErrHungUp, err)
		return 0, l.err
	}
	part, _ := l.r.Peek(min(len(p), l.r.Buffered())) // it is there
	if end := bytes.IndexByte(part, '\n'); end >= 0 {
		part, l.err = part[:end+1], io.EOF
	}
	n := copy(p, part)
	_, _ = l.r.Discard(n)
	l.left, l.value = l.left-n, l.value-n
	if min(l.left, l.value) < 0 {
		l.err = fmt.Errorf("an answer to stats: %w", ErrEndless)
		return 0, l.err
	}
	return n, nil
}

// listing reads an answer, of which it keeps one value at a time.
type listing struct {
	*json.Decoder
	*line
}

var errShape = errors.New("another value was expected")

// elements calls each for each element of an array or object, which begins so; null has none.
func (l listing) elements(begin json.Delim, each func() error) error {
	switch t, err := l.Token(); {
	case t == nil: // also with an error
		return err
	case t != begin:
		return errShape
	}
	for l.value = mostValue; l.More(); l.value = mostValue {
		if err := each(); err != nil {
			return err
		}
	}
	_, err := l.Token()
	return err
}

// skip reads a value of any type.
func (l listing) skip() error {
	for depth := 0; depth <= mostDepth; {
		l.value = mostValue
		t, err := l.Token()
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if err != nil || depth == 0 {
			return err
		}
	}
	return errShape
}

// read reads the object. It refuses listings that no server sends: negative numbers, or no connections.
func (s *Stats) read(l listing, each func(*Entry)) error {
	s.Connections = -1
	err := l.elements('{', func() error {
		name, err := l.Token()
		switch {
		case err != nil:
			return err
		case name == "connections":
			return l.Decode(&s.Connections)
		case name == "locks":
			return l.entries(Entry{Limit: 1}, each)
		case name == "semaphores":
			return l.entries(Entry{Semaphore: true}, each)
		case name == "idle_locks":
			return l.entries(Entry{Limit: 1, Idle: true}, each)
		case name == "idle_semaphores":
			return l.entries(Entry{Semaphore: true, Idle: true}, each)
		}
		s.Signals = s.Signals || name == "signal_channels"
		return l.skip()
	})
	if err == nil && s.Connections < 0 {
		return errShape
	}
	return err
}

// entries reads a list of keys of one kind.
func (l listing) entries(kind Entry, each func(*Entry)) error {
	type fields struct {
		Key     string  `json:"key"`
		Owner   uint64  `json:"owner_conn_id"`
		Expires float64 `json:"lease_expires_in_s"`
		Idle    float64 `json:"idle_s"`
		Waiters uint32  `json:"waiters"`
		Limit   uint32  `json:"limit"`
		Taken   uint32  `json:"holders"`
	}
	var told fields
	var e Entry
	return l.elements('[', func() error {
		told = fields{}
		if err := l.Decode(&told); err != nil {
			return err
		}
		e = kind
		e.Key, e.Owner, e.Waiters = told.Key, told.Owner, int(told.Waiters)
		e.Limit, e.Taken = max(e.Limit, int(told.Limit)), int(told.Taken)
		if e.Owner != 0 {
			e.Taken = 1
		}
		e.Left, e.Unused = lengthOf(told.Expires), lengthOf(told.Idle)
		if e.Limit < 1 && !e.Idle {
			return errShape
		}
		each(&e)
		return nil
	})
}

// lengthOf is a length of time, not less than 0.
func lengthOf(seconds float64) time.Duration {
	return time.Duration(max(0, min(seconds*float64(time.Second), math.MaxInt64/2)))
}
