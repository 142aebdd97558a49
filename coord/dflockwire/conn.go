package dflockwire

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
)

const (
	mostAnswer = 4 << 10 // bytes of an answer, except the answer to stats
	// mostReading bounds the reading of an answer that has begun, as a multiple of the time-out of answers.
	mostReading = 4
)

// Conn is one connection. Its methods are safe for concurrent use.
type Conn struct {
	stream   net.Conn
	patience time.Duration
	turn     chan struct{} // holds one element while a request is under way
	running  sync.WaitGroup
	done     chan struct{}

	back chan struct{} // receives when a request has given the reader back

	mu      sync.Mutex
	sent    time.Time            // of the last request
	err     error                // the reason for which done is closed
	awaited chan<- *bufio.Reader // receives the reader for the answer of the request under way; nil if no request waits
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns the reason for the end of the connection; nil before.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection and joins its goroutine. The server then releases what the connection owned; before version
// 1.15 it does not notice the end while a claim waits on the connection. A second call does nothing.
func (c *Conn) Close() {
	c.end(ErrClosed)
	c.running.Wait()
}

func (c *Conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.done)
		_ = c.stream.Close() // the stream ends even if this fails
	}
}

// read lends r to each request whose answer begins, until the connection ends.
func (c *Conn) read(r *bufio.Reader) {
	for {
		if _, err := r.Peek(1); err != nil {
			c.end(failure.With(ErrHungUp, err))
			return
		}
		c.mu.Lock()
		awaited, sent := c.awaited, c.sent
		c.awaited = nil
		c.mu.Unlock()
		if awaited == nil {
			line, err := readLine(r)
			switch {
			case err != nil:
			case string(line) == "error": // the server sends this and hangs up, for instance after too long a silence
				err = Silence(time.Since(sent))
			default:
				err = unexpected("an answer to nothing that was asked")
			}
			c.end(err)
			return
		}
		awaited <- r
		select {
		case <-c.back:
		case <-c.done:
			return
		}
	}
}

// readLine reads a line and returns it without its LF. The line is valid until the next one is read.
func readLine(r *bufio.Reader) (line []byte, err error) {
	line, err = r.ReadSlice('\n')
	switch {
	case len(line) > mostAnswer || errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("an answer of more than %d bytes: %w", mostAnswer, ErrEndless)
	case err != nil:
		return nil, failure.With(ErrHungUp, err)
	}
	return line[:len(line)-1], nil
}

// request sends three lines and calls read for the answer. An error of read ends the connection, unless it is a
// refusal. sent is the time of the request, began the time at which the answer began.
func (c *Conn) request(ctx context.Context, patience time.Duration, command, key, argument string, read func(*bufio.Reader) error) (sent, began time.Time, err error) {
	whole, cancel := context.WithTimeoutCause(ctx, patience+mostReading*c.patience, ErrSilent)
	defer cancel()
	ctx, cancel = context.WithTimeoutCause(whole, patience, ErrSilent)
	defer cancel()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-c.done:
		return sent, began, c.Err()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return sent, began, withContext(ctx)
	}
	lent := make(chan *bufio.Reader, 1)
	c.mu.Lock()
	c.awaited, c.sent = lent, time.Now()
	sent = c.sent
	c.mu.Unlock()
	deadline, _ := ctx.Deadline()
	err = c.stream.SetWriteDeadline(deadline)
	if err == nil {
		_, err = c.stream.Write([]byte(command + "\n" + key + "\n" + argument + "\n"))
	}
	if err != nil {
		c.end(failure.With(ErrHungUp, err))
	}
	var r *bufio.Reader
	select {
	case r = <-lent:
	case <-ctx.Done():
		c.end(failure.With(ErrSilent, context.Cause(ctx)))
		err = withContext(ctx)
	case <-c.done:
		err = c.Err()
	}
	if r == nil {
		select {
		case r = <-lent: // the last thing that the server said
		default:
			return sent, began, err
		}
	}
	began = time.Now()
	defer spawn.OnDone(whole, func() { c.end(failure.With(ErrSilent, context.Cause(whole))) })()
	wrong := read(r)
	if _, refused := errors.AsType[Refusal](wrong); wrong == nil || refused {
		select {
		case c.back <- struct{}{}:
		case <-c.done:
		}
		return sent, began, wrong
	}
	c.end(wrong)
	switch {
	case err != nil: // the connection had ended before
	case whole.Err() != nil:
		err = withContext(whole)
	default:
		err = c.Err()
	}
	return sent, began, err
}

// withContext returns the error of a request whose context has ended.
func withContext(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrSilent) { // the time-out of the request; the caller's context has not ended
		return ErrSilent
	}
	return fmt.Errorf("no answer: %w", errors.Join(context.Cause(ctx), ctx.Err()))
}

// ask sends a request whose answer is one line. It returns the fields of the line, at least one; the first is not a
// refusal, which is returned as the error.
func (c *Conn) ask(ctx context.Context, patience time.Duration, command, key, argument string) (fields []string, sent time.Time, err error) {
	sent, _, err = c.request(ctx, patience, command, key, argument, func(r *bufio.Reader) error {
		line, err := readLine(r)
		fields = strings.Fields(string(line))
		switch {
		case err != nil:
			return err
		case len(fields) == 0:
			return unexpected("an empty answer")
		}
		return refusal(fields[0])
	})
	return fields, sent, err
}

// confirm sends a request and reports whether the server answered ok. If ok is false and err is nil, the server
// answered ErrRejected.
func (c *Conn) confirm(ctx context.Context, command, key, argument string) (ok bool, err error) {
	fields, _, err := c.ask(ctx, c.patience, command, key, argument)
	switch {
	case errors.Is(err, ErrRejected):
		return false, nil
	case err == nil && fields[0] != "ok":
		return false, c.broken(command)
	}
	return err == nil, err
}

// broken ends a connection whose server does not answer like dflockd.
func (c *Conn) broken(command string) error {
	err := unexpected("the answer to the command " + command)
	c.end(err)
	return err
}

const (
	defaultTimeout = 5 * time.Second
	mostSecret     = 64 << 10
)

// Dialer makes connections to one server.
type Dialer struct {
	Addr           string        // host:port
	TLS            *tls.Config   // nil: plain text
	Secret         string        // --auth-token of the server; "": no login
	ConnectTimeout time.Duration // for connecting, encryption and login together; 0: 5 s
	AnswerTimeout  time.Duration // for each request, in addition to the wait of a claim; 0: 5 s
	// Dial makes the connection, including its encryption. Nil: TCP with keepalive, and TLS.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Connect connects and logs in. The connection may outlive ctx.
func (d Dialer) Connect(ctx context.Context) (*Conn, error) {
	bound, cancel := context.WithTimeout(ctx, cmp.Or(d.ConnectTimeout, defaultTimeout))
	defer cancel()
	stream, err := d.dial(bound)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = failure.With(ErrSilent, err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to %s: %w", d.Addr, err), ctx.Err())
	}
	c := &Conn{stream: stream, sent: time.Now(), patience: cmp.Or(d.AnswerTimeout, defaultTimeout), turn: make(chan struct{}, 1), back: make(chan struct{}), done: make(chan struct{})}
	spawn.Go(context.WithoutCancel(ctx), &c.running, func() { c.read(bufio.NewReaderSize(stream, 16<<10)) }) // Close joins it
	if d.Secret == "" {
		return c, nil
	}
	if err := c.login(bound, d.Secret); err != nil {
		c.Close()
		return nil, errors.Join(fmt.Errorf("logging in at %s: %w", d.Addr, err), ctx.Err())
	}
	return c, nil
}

func (d Dialer) dial(ctx context.Context) (net.Conn, error) {
	plain := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 2}}
	switch {
	case d.Dial != nil:
		return d.Dial(ctx, "tcp", d.Addr)
	case d.TLS != nil:
		return (&tls.Dialer{NetDialer: plain, Config: d.TLS}).DialContext(ctx, "tcp", d.Addr)
	}
	return plain.DialContext(ctx, "tcp", d.Addr)
}

func (c *Conn) login(ctx context.Context, secret string) error {
	if len(secret) > mostSecret || strings.ContainsAny(secret, "\r\n") {
		return fmt.Errorf("an auth token of %d bytes, or with a line break: %w", len(secret), ErrInvalid)
	}
	ok, err := c.confirm(ctx, "auth", "_", secret)
	if err == nil && !ok {
		return fmt.Errorf("the server has no auth token configured and refuses ours: %w: %w", ErrAuth, ErrRejected)
	}
	return err
}
