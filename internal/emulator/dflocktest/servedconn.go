package dflocktest

import (
	"bufio"
	"errors"
	"io"
	"net"
	"time"

	"coordtop/internal/emulator/network"
)

// conn serves one connection, one request after the other.
type conn struct {
	server  *Server
	wire    *network.Conn
	stream  net.Conn // wire, or TLS over it
	reader  *bufio.Reader
	model   *model // the one in which the connection was opened; a restart makes another
	client  *client
	answers chan answer
}

// open gives a connection its id. It returns nil if too many are open.
func (s *Server) open(w *network.Conn) *conn {
	stream := s.encrypt(w)
	c := &conn{
		server: s, wire: w, stream: stream, reader: bufio.NewReader(stream),
		answers: make(chan answer, 4), // deliver must not block; at most an answer, a refusal and two ends
	}
	s.step(func(m *model) { c.model, c.client = m, m.open(c.deliver) })
	if c.client == nil {
		return nil
	}
	return c
}

func (c *conn) serve() {
	defer func() { _ = c.wire.Close() }() // a connection that was cut is closed already
	defer c.step(func() { c.model.hangUp(c.client) })
	for {
		lines, err := c.readRequest()
		if err != nil {
			if errors.Is(err, errLineTooLong) {
				c.step(func() { c.model.broken(c.client) })
				c.writeUntilEnd()
			}
			c.writeRest()
			return
		}
		if !c.execute(lines) {
			c.writeRest()
			return
		}
	}
}

// deliver is called by the model, under the server's lock.
func (c *conn) deliver(a answer) {
	c.answers <- a
	if a.end {
		_ = c.wire.Conn.SetReadDeadline(time.Unix(1, 0)) // ends a read that waits for a request
	}
}

// step calls f under the server's lock, unless a restart has replaced the model.
func (c *conn) step(f func()) {
	c.server.step(func(m *model) {
		if m == c.model {
			f()
		}
	})
}

func (c *conn) readRequest() (lines [3]string, err error) {
	for i := range lines {
		most := mostLine
		if lines[0] == "auth" && i == 2 && c.server.options.Newer.LongSecrets {
			most = mostSecretLine
		}
		if lines[i], err = readLine(c.reader, most); err != nil {
			return lines, err
		}
		c.step(func() { c.model.active(c.client) })
	}
	return lines, nil
}

// writeUntilEnd writes the model's answers until the model ends the connection.
func (c *conn) writeUntilEnd() {
	for {
		a, ok := c.next()
		if !ok {
			return
		}
		if c.write(a) != nil || a.end {
			return
		}
	}
}

// writeRest writes an answer that the model gave without a request, if there is one.
func (c *conn) writeRest() {
	for {
		select {
		case a := <-c.answers:
			_ = c.write(a) // the client may be gone
		default:
			return
		}
	}
}

func (c *conn) write(a answer) error {
	if a.line == "" {
		return nil
	}
	_, err := io.WriteString(c.stream, a.line+"\n")
	return err
}

// execute reports whether the connection stays open.
func (c *conn) execute(lines [3]string) bool {
	f := c.server.faultFor(lines[0])
	if f.answer != "" {
		return c.write(answer{line: f.answer}) == nil
	}
	c.step(func() { c.model.request(c.client, lines[0], lines[1], lines[2]) })
	noticed := c.watch()
	a, ok := c.next()
	if !ok || f.lose || !c.pause(f.slow) {
		_ = c.wire.Close() // the caller would do it, too; it also ends the watch
		<-noticed
		return false
	}
	err := c.write(a)
	if err != nil || a.end {
		_ = c.wire.Close() // it also ends the watch
	}
	return <-noticed && err == nil && !a.end
}

// watch notices that a waiting client hangs up, if the emulated version does so. When the client sends or hangs up, the
// channel receives true if the connection stays open, else false.
func (c *conn) watch() <-chan bool {
	done := make(chan bool, 1)
	if !c.server.options.Newer.NoticesHangUps || len(c.answers) > 0 {
		done <- true
		return done
	}
	c.server.tasks.Go(func() {
		c.server.options.Guard(func() {
			_, err := c.reader.Peek(1)
			if err != nil {
				c.step(func() { c.model.hangUp(c.client) })
				c.answers <- answer{end: true}
			}
			done <- err == nil
		})
	})
	return done
}

// next waits for an answer. It returns false if the server closed the connection.
func (c *conn) next() (answer, bool) {
	select {
	case a := <-c.answers:
		return a, true
	case <-c.wire.Closed():
		return answer{}, false
	}
}

// pause waits for d. It returns false if the server closes the connection during the wait.
func (c *conn) pause(d time.Duration) bool {
	if d == 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-c.wire.Closed():
		return false
	}
}
