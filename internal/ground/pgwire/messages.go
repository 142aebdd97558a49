package pgwire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ErrForeign reports that the server sent something that is not a message of Postgres. The connection has ended.
var ErrForeign = errors.New("what answers does not speak the protocol of Postgres")

// Excess reports that a server sent too much. The connection has ended.
type Excess struct{ What string }

// Error returns a line.
func (e *Excess) Error() string { return "the server sent more than a Postgres would: " + e.What }

const (
	headerSize     = 5        // a message's type and its length, which counts itself but not the type
	longestMessage = 8 << 20  // the longest column that we ask for is cut at 2 kB
	mostBytes      = 16 << 20 // before the end of an answer, or within unaskedTime; 10,000 locks take 0.9 MB
	unaskedTime    = 10 * time.Second
)

// traffic counts the messages in both directions. At most two goroutines use it: one reads and one writes.
type traffic struct {
	bytes   atomic.Int64 // received since the last answer, or within unaskedTime
	pending atomic.Int64 // questions without an answer
	lent    atomic.Bool  // others may use the server session
	gate    sync.Mutex   // held while delicate is called and acted on: no question is sent in between
	spoken  bool         // a message has come
	since   time.Time    // beginning of the present unaskedTime
}

// reset prepares the counts for another host.
func (t *traffic) reset() {
	t.bytes.Store(0)
	t.pending.Store(0)
	t.lent.Store(true)
	t.spoken = false
}

// ask counts a question that is about to be sent.
func (t *traffic) ask() {
	t.gate.Lock()
	defer t.gate.Unlock()
	t.pending.Add(1)
}

// delicate reports whether closing the connection now could end a server session that
// others use.
func (t *traffic) delicate() bool { return t.lent.Load() && t.pending.Load() > 0 }

// comes counts and checks a received message of type kind with a body of n bytes.
func (t *traffic) comes(kind byte, n int) error {
	kinds := "ACDEIKNRSTZnstv123"
	if !t.spoken {
		kinds = "REv"
	}
	t.spoken = true
	if strings.IndexByte(kinds, kind) < 0 || n < 0 || n > longestMessage {
		return fmt.Errorf("%w (a message of type %q)", ErrForeign, kind)
	}
	switch asked, now := t.pending.Load() > 0, time.Now(); {
	case asked && kind == 'Z':
		t.pending.Add(-1)
		t.bytes.Store(0)
	case !asked && now.Sub(t.since) > unaskedTime:
		t.since = now
		t.bytes.Store(0)
	}
	return nil
}

// counted bounds the bytes that are read from a socket. messages cannot do that, because the library
// reads ahead into memory while a write of its own is blocked.
type counted struct {
	net.Conn
	state *traffic
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.state.bytes.Add(int64(n)) > mostBytes {
		return 0, &Excess{fmt.Sprintf("over %d MB without an answer", mostBytes>>20)}
	}
	return n, err
}

// messages passes on the server's messages before the first that Postgres would not send.
type messages struct {
	in    *bufio.Reader
	state *traffic
	left  int // of the message under way
	wrong error
}

func newMessages(from io.Reader, state *traffic) *messages {
	return &messages{in: bufio.NewReader(from), state: state}
}

// Read implements io.Reader. After an error of the network, such as a time-out, the next call continues where this one
// stopped.
func (m *messages) Read(b []byte) (int, error) {
	if m.wrong != nil {
		return 0, m.wrong
	}
	if m.left == 0 {
		head, err := m.in.Peek(headerSize)
		if err != nil {
			return 0, err
		}
		n := bodySize(head)
		if m.wrong = m.state.comes(head[0], n); m.wrong != nil {
			return 0, m.wrong
		}
		m.left = headerSize + n
	}
	n, err := m.in.Read(b[:min(len(b), m.left)])
	m.left -= n
	return n, err
}

func bodySize(head []byte) int { return int(int32(binary.BigEndian.Uint32(head[1:]))) - 4 }

// questions passes on the client's messages, and counts those that the server answers.
type questions struct {
	to    io.Writer
	state *traffic

	err  error // of the first write that failed; nothing is written after that
	head [headerSize]byte
	have int // of head
	left int // of the body, still to come
}

func newQuestions(to io.Writer, state *traffic) *questions {
	return &questions{to: to, state: state, have: 1} // the first message has no type
}

// Write implements io.Writer. After an error it writes nothing more, because the library would send a goodbye even
// after half a question.
func (q *questions) Write(b []byte) (int, error) {
	if q.err != nil {
		return 0, q.err
	}
	q.see(b) // before it can be answered
	n, err := q.to.Write(b)
	q.err = err
	return n, err
}

func (q *questions) see(b []byte) {
	for len(b) > 0 {
		if q.left > 0 {
			n := min(q.left, len(b))
			q.left, b = q.left-n, b[n:]
			continue
		}
		n := copy(q.head[q.have:], b)
		q.have, b = q.have+n, b[n:]
		if q.have < headerSize {
			return
		}
		if kind := q.head[0]; kind == 'Q' || kind == 'S' {
			q.state.ask()
		}
		q.have, q.left = 0, max(bodySize(q.head[:]), 0)
	}
}
