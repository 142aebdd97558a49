package pgwire

import (
	"bufio"
	"encoding/binary"
	"io"
)

// headerSize is a message's type and its length, which counts itself but not the type.
const headerSize = 5

// messages reads what the server sends and lets through what is within bounds.
type messages struct {
	in    *bufio.Reader
	state *traffic

	out  []byte // what is to be read from us
	read int    // of out
	err  error  // after out: a bound was broken

	kind byte // of the message under way
	cut  bool // it is one of which only the beginning is passed
	left int  // of its body, still to come
	keep int  // of that, still to be passed
}

func newMessages(from io.Reader, state *traffic) *messages {
	return &messages{in: bufio.NewReaderSize(from, headerSize+textKept), state: state}
}

// Read implements io.Reader. What the network could not read, as after a time-out, is read by the
// next call.
func (m *messages) Read(b []byte) (int, error) {
	for m.read == len(m.out) {
		if m.err != nil {
			return 0, m.err
		}
		m.out, m.read = m.out[:0], 0
		next := m.begin
		if m.left > 0 {
			next = m.body
		}
		if err := next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, m.out[m.read:])
	m.read += n
	return n, nil
}

// begin reads the header of a message, and all of it if its body is looked at.
func (m *messages) begin() error {
	head, err := m.in.Peek(headerSize)
	if err != nil {
		return err
	}
	n := int(int32(binary.BigEndian.Uint32(head[1:]))) - 4
	how, err := m.state.header(head[0], n)
	if err != nil {
		m.err = err
		return nil
	}
	if how == checked {
		whole, err := m.in.Peek(headerSize + n)
		if err != nil {
			return err
		}
		if m.err = m.state.count(whole[0], len(whole)); m.err != nil {
			return nil
		}
		var needed bool
		if needed, m.err = m.state.end(whole[0], whole[headerSize:]); needed {
			m.out = append(m.out, whole...)
		}
		_, err = m.in.Discard(len(whole))
		return err
	}
	m.kind, m.cut, m.left, m.keep = head[0], how == cut && n > textKept, n, n
	m.out = append(m.out, head...)
	if m.cut {
		m.keep = textKept
		binary.BigEndian.PutUint32(m.out[1:], uint32(4+m.keep+len(cutEnd)))
	}
	if m.err = m.state.count(m.kind, headerSize); m.err == nil && n == 0 {
		_, m.err = m.state.end(m.kind, nil)
	}
	_, err = m.in.Discard(headerSize)
	return err
}

// cutEnd ends a text that was cut, and the list of texts. Where the cut was after a text it
// stands for the end of the list and a byte that nobody reads.
const cutEnd = "\x00\x00"

// body reads some of the body of a message.
func (m *messages) body() error {
	if _, err := m.in.Peek(1); err != nil {
		return err
	}
	part, err := m.in.Peek(min(m.left, m.in.Buffered()))
	if err != nil {
		return err
	}
	if m.err = m.state.count(m.kind, len(part)); m.err != nil {
		return nil
	}
	n := min(m.keep, len(part))
	m.out = append(m.out, part[:n]...)
	if m.keep -= n; m.cut && m.keep == 0 && n > 0 {
		m.out = append(m.out, cutEnd...)
	}
	if m.left -= len(part); m.left == 0 {
		_, m.err = m.state.end(m.kind, nil)
	}
	_, err = m.in.Discard(len(part))
	return err
}

// questions sees what is written, and counts the questions that an answer ends.
type questions struct {
	to    io.Writer
	state *traffic

	err   error // of the first write that failed: nothing is written after it
	begun bool  // the first message, which has no type, has passed
	head  [headerSize]byte
	have  int
	left  int
}

// Write implements io.Writer. The library says goodbye even where a question could not be
// sent, or in the midst of its answer.
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
		if !q.begun && q.have == 0 {
			q.have = 1 // no type
		}
		n := copy(q.head[q.have:], b)
		q.have, b = q.have+n, b[n:]
		if q.have < headerSize {
			return
		}
		q.left = max(int(int32(binary.BigEndian.Uint32(q.head[1:])))-4, 0)
		if kind := q.head[0]; q.begun && (kind == 'Q' || kind == 'S') {
			q.state.ask()
		}
		q.begun, q.have = true, 0
	}
}
