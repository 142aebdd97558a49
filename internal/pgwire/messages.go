package pgwire

import (
	"encoding/binary"
	"io"
)

// headerSize is a message's type and its length, which counts itself but not the type.
const headerSize = 5

// messages reads whole streams of the server and lets through what is within bounds.
type messages struct {
	from  io.Reader
	state *traffic

	in   [16 << 10]byte
	out  []byte // what is to be read from us
	read int    // of out
	err  error  // after out

	head     [headerSize]byte
	have     int // of head
	handling handling
	left     int // of the body, still to come
	keep     int // of that, still to be passed
	body     []byte
}

// Read implements io.Reader.
func (m *messages) Read(b []byte) (int, error) {
	for {
		if m.read < len(m.out) {
			n := copy(b, m.out[m.read:])
			m.read += n
			return n, nil
		}
		if m.err != nil {
			return 0, m.err
		}
		n, err := m.from.Read(m.in[:])
		m.out, m.read = m.out[:0], 0
		m.err = m.take(m.in[:n])
		if err != nil && m.err == nil {
			if len(m.out) == 0 {
				return 0, err // a time-out passes, so it is not kept
			}
			n := copy(b, m.out)
			m.read = n
			return n, nil
		}
	}
}

// take passes on what it may of some bytes.
func (m *messages) take(in []byte) error {
	for len(in) > 0 {
		if m.have < headerSize {
			n := copy(m.head[m.have:], in)
			m.have, in = m.have+n, in[n:]
			if m.have < headerSize {
				return nil
			}
			if err := m.begin(); err != nil {
				return err
			}
		} else {
			n := min(m.left, len(in))
			if err := m.state.count(m.head[0], n); err != nil {
				return err
			}
			m.bytes(in[:n])
			m.left, in = m.left-n, in[n:]
		}
		if m.left == 0 {
			if err := m.finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin starts a message whose header is there.
func (m *messages) begin() error {
	m.left = int(int32(binary.BigEndian.Uint32(m.head[1:]))) - 4
	var err error
	if m.handling, err = m.state.header(m.head[0], m.left); err != nil {
		return err
	}
	m.keep = m.left
	if m.handling == cut && m.left > textKept {
		m.keep = textKept
		binary.BigEndian.PutUint32(m.head[1:], uint32(4+m.keep+len(cutEnd)))
	}
	if m.handling == passed || m.handling == cut {
		m.out = append(m.out, m.head[:]...)
	}
	m.body = m.body[:0]
	return m.state.count(m.head[0], headerSize)
}

// cutEnd ends a text that was cut, and the list of texts. Where the cut was after a text it
// stands for the end of the list and a byte that nobody reads.
const cutEnd = "\x00\x00"

func (m *messages) bytes(part []byte) {
	if m.handling == checked || m.handling == sorted {
		m.body = append(m.body, part...)
		return
	}
	n := min(m.keep, len(part))
	m.out = append(m.out, part[:n]...)
	if m.keep -= n; m.handling == cut && m.keep == 0 && n > 0 && m.left > n {
		m.out = append(m.out, cutEnd...)
	}
}

// finish ends a message whose body is there.
func (m *messages) finish() error {
	keep, err := m.state.end(m.head[0], m.body)
	if err != nil {
		return err
	}
	if keep && (m.handling == checked || m.handling == sorted) {
		m.out = append(append(m.out, m.head[:]...), m.body...)
	}
	m.have = 0
	return nil
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
