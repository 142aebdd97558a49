package localserver

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy forwards TCP links to a server and misbehaves on demand. It knows nothing of the protocol: a request is the
// data that one read from the client returned.
type Proxy struct {
	target   string
	listener net.Listener
	tasks    sync.WaitGroup // the accepting goroutine and two for each link; close waits for them

	mu     sync.Mutex
	links  map[*link]struct{}
	open   chan struct{} // closed while bytes may pass; replaced by BlackHole
	refuse bool
	delay  time.Duration
	orders []*order
	edits  []edit
	closed bool
}

// Half is the half of an exchange that a Proxy loses.
type Half uint8

// The halves.
const (
	Request Half = iota // the server never sees it
	Reply               // the server acts on the request, but the client receives no reply

	await // an order of Await and not of Lose
	hold  // an order of Hold
)

// order is an instruction for the next request that contains match.
type order struct {
	match []byte
	what  Half
	done  chan struct{} // closed when the order was executed
	free  chan struct{} // Hold: closed when the request may pass
}

func (p *Proxy) order(what Half, match string) *order {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := &order{match: []byte(match), what: what, done: make(chan struct{}), free: make(chan struct{})}
	p.orders = append(p.orders, o)
	return o
}

// take removes and returns the first order of these kinds for this request; nil if no order matches.
func (p *Proxy) take(request []byte, what ...Half) *order {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, o := range p.orders {
		if slices.Contains(what, o.what) && bytes.Contains(request, o.match) {
			p.orders = slices.Delete(p.orders, i, i+1)
			return o
		}
	}
	return nil
}

// edit is an order to replace old in requests with new, which has the same length.
type edit struct{ old, new []byte }

// link is one client's connection and its counterpart to the server.
type link struct {
	client, server net.Conn
	gone           chan struct{} // closed with the link
	once           sync.Once
	ended          atomic.Int32          // directions that ended without a reset
	frozen         atomic.Bool           // no byte passes any more
	deaf           atomic.Bool           // HalfClose has ended the direction to the client
	losing         atomic.Pointer[order] // if not nil, the next bytes from the server are lost
}

// ProxyForTest listens on a free port of 127.0.0.1 and forwards to target, a host and port,
// until the test ends.
func ProxyForTest(t TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", address(0))
	if err != nil {
		t.Fatalf("listening for the proxy: %v", err)
		return nil
	}
	p := &Proxy{target: target, listener: l, links: map[*link]struct{}{}, open: make(chan struct{})}
	close(p.open)
	p.tasks.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Addr returns the host and port that clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Links returns the number of open links, including those that are held back.
func (p *Proxy) Links() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Lose loses one half of the next exchange whose request contains match, and resets its link, so that the client cannot
// know whether the request was executed. Orders are executed in turn. The channel is closed when this one was.
func (p *Proxy) Lose(half Half, match string) <-chan struct{} {
	return p.order(half, match).done
}

// Hold delays the next request that contains match, and everything after it on its link, until release is called. Other
// links are not delayed. The request arrives then even if its client has gone. held is closed when the delay begins.
func (p *Proxy) Hold(match string) (held <-chan struct{}, release func()) {
	h := p.order(hold, match)
	return h.done, sync.OnceFunc(func() { close(h.free) })
}

// keep executes the orders of Hold. It returns false if the link is gone.
func (p *Proxy) keep(l *link, request []byte) bool {
	h := p.take(request, hold)
	if h == nil {
		return true
	}
	close(h.done)
	select {
	case <-h.free:
		return true
	case <-l.gone:
		return false
	}
}

// Await returns a channel that is closed when the next request that contains match has
// come from a client; it may be held back or lost after that.
func (p *Proxy) Await(match string) <-chan struct{} {
	return p.order(await, match).done
}

// Replace replaces old with new in all requests from now on. Both must have the same length. So the server answers like
// one that does not know old.
func (p *Proxy) Replace(old, new string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.edits = append(p.edits, edit{[]byte(old), []byte(new)})
}

// edit executes the orders of Replace.
func (p *Proxy) edit(request []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.edits {
		copy(request, bytes.ReplaceAll(request, e.old, e.new))
	}
}

// tell executes the orders of Await.
func (p *Proxy) tell(request []byte) {
	for a := p.take(request, await); a != nil; a = p.take(request, await) {
		close(a.done)
	}
}

// Forget cancels the orders of Lose that were not executed yet.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.orders = slices.DeleteFunc(p.orders, func(o *order) bool { return o.what <= Reply })
}

// close resets all links, stops listening and waits for the proxy's goroutines.
func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.letThroughLocked()
	p.mu.Unlock()
	// The only error is that it was closed before.
	_ = p.listener.Close()
	p.Reset()
	p.tasks.Wait()
}

// accept serves links until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // a client that gave up while it was in the queue
		}
		p.serve(client)
	}
}

// serve connects to the server and starts the two pumps of a link. While Cut lasts it
// resets the client instead.
func (p *Proxy) serve(client net.Conn) {
	server, err := net.DialTimeout("tcp", p.target, 5*time.Second)
	if err != nil {
		reset(client)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse || p.closed {
		reset(client)
		reset(server)
		return
	}
	l := &link{client: client, server: server, gone: make(chan struct{})}
	p.links[l] = struct{}{}
	p.tasks.Go(func() { p.pump(l, l.client, l.server, p.upstream) })
	p.tasks.Go(func() { p.pump(l, l.server, l.client, p.downstream) })
}

// pump copies from src to dst until either ends. It calls see with each chunk before it passes the chunk on; if see
// returns false, the link ends. An end of src without an error is passed on in order, like a byte, and does not end the
// other direction.
func (p *Proxy) pump(l *link, src, dst net.Conn, see func(*link, []byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := src.Read(buffer)
		if src == l.client {
			p.tell(buffer[:n])
		}
		if !p.hold(l) {
			break
		}
		if dst == l.client && l.deaf.Load() {
			n = 0
		}
		if n > 0 {
			if !see(l, buffer[:n]) {
				break
			}
			if _, err := dst.Write(buffer[:n]); err != nil {
				break
			}
		}
		if errors.Is(err, io.EOF) && dst.(*net.TCPConn).CloseWrite() == nil && l.ended.Add(1) < 2 {
			return
		}
		if err != nil {
			break
		}
	}
	l.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// hold waits for as long as bytes are held back or delayed. It returns false if the link is gone.
func (p *Proxy) hold(l *link) bool {
	p.mu.Lock()
	delay, open := p.delay, p.open
	p.mu.Unlock()
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-l.gone:
			return false
		}
	}
	select {
	case <-open:
	case <-l.gone:
		return false
	}
	if l.frozen.Load() {
		<-l.gone
		return false
	}
	return true
}

// upstream executes the orders for a request. It returns false if the request must be lost.
func (p *Proxy) upstream(l *link, request []byte) bool {
	p.edit(request)
	if !p.keep(l, request) {
		return false
	}
	lost := p.take(request, Request, Reply)
	if lost != nil && lost.what == Request {
		close(lost.done)
		return false
	}
	if lost != nil {
		l.losing.Store(lost)
	}
	return true
}

// downstream returns false if a reply must be lost.
func (p *Proxy) downstream(l *link, _ []byte) bool {
	lost := l.losing.Swap(nil)
	if lost != nil {
		close(lost.done)
	}
	return lost == nil
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.gone)
		reset(l.client)
		reset(l.server)
	})
}

// reset closes a connection so that the other side sees an error and not the end of the stream.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		// An error only changes how the close appears to the other side.
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
