package localserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy forwards TCP links to a server and misbehaves on demand. It knows nothing of the
// protocol: what it calls a request is what one read from the client returned.
type Proxy struct {
	target   string
	listener net.Listener
	tasks    sync.WaitGroup // the accepting goroutine and two a link; Close waits

	mu     sync.Mutex
	links  map[*link]struct{}
	open   chan struct{} // closed while bytes may pass; replaced by BlackHole
	refuse bool
	delay  time.Duration
	losses orders
	awaits orders
	holds  orders
	edits  []edit
	closed bool
}

// Half is the half of an exchange that a Proxy loses.
type Half uint8

// The halves.
const (
	Request Half = iota // the server never sees it
	Reply               // the server acts on the request, and nobody hears of it
)

// order is what a Proxy does to the next request that contains match.
type order struct {
	match []byte
	half  Half          // Lose: of the exchange
	done  chan struct{} // closed when it was done
	free  chan struct{} // Hold: closed when the request may go on
}

type orders []*order

func (o *orders) add(match string) *order {
	made := &order{match: []byte(match), done: make(chan struct{}), free: make(chan struct{})}
	*o = append(*o, made)
	return made
}

// take strikes the first order for this request off the list; nil: there is none.
func (o *orders) take(request []byte) *order {
	for i, each := range *o {
		if bytes.Contains(request, each.match) {
			*o = slices.Delete(*o, i, i+1)
			return each
		}
	}
	return nil
}

// edit is an order to replace old in requests by new, which is as long.
type edit struct{ old, new []byte }

// link is one client's connection and its counterpart to the server.
type link struct {
	client, server net.Conn
	gone           chan struct{} // closed with the link
	once           sync.Once
	ended          atomic.Int32 // directions that ended politely
	frozen         atomic.Bool  // no byte passes any more
	deaf           atomic.Bool  // the client was told that the server has ended

	mu     sync.Mutex
	losing *order // the next bytes from the server are to be lost
}

// NewProxy listens on a free port of 127.0.0.1 and forwards to target, a host and port.
// It starts goroutines that end with Close.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return nil, fmt.Errorf("listening for the proxy: %w", err)
	}
	p := &Proxy{target: target, listener: l, links: map[*link]struct{}{}, open: make(chan struct{})}
	close(p.open)
	p.tasks.Go(p.accept)
	return p, nil
}

// ProxyForTest makes a proxy that is closed when the test ends.
func ProxyForTest(t TB, target string) *Proxy {
	t.Helper()
	p, err := NewProxy(target)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(p.Close)
	return p
}

// Addr is the host and port that clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Links is how many links are up, held ones included.
func (p *Proxy) Links() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Lose loses one half of the next exchange whose request contains match, and resets its
// link, so that the client knows only that it does not know. Orders are served in turn.
// The channel is closed when it has happened.
func (p *Proxy) Lose(half Half, match string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	order := p.losses.add(match)
	order.half = half
	return order.done
}

// Hold keeps back the next request that contains match, and all that follows it on its link,
// until release is called; other links go on. It arrives then also if its client has gone.
// held is closed when it was kept back.
func (p *Proxy) Hold(match string) (held <-chan struct{}, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holds.add(match)
	return h.done, sync.OnceFunc(func() { close(h.free) })
}

// keep serves the orders of Hold; false: the link is gone.
func (p *Proxy) keep(l *link, request []byte) bool {
	p.mu.Lock()
	h := p.holds.take(request)
	p.mu.Unlock()
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
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.awaits.add(match).done
}

// Replace has old, wherever a request contains it from now on, arrive as new, which must be
// as long: the server answers as one that does not know old.
func (p *Proxy) Replace(old, new string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.edits = append(p.edits, edit{[]byte(old), []byte(new)})
}

// edit serves the orders of Replace.
func (p *Proxy) edit(request []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.edits {
		for rest := request; ; {
			i := bytes.Index(rest, e.old)
			if i < 0 {
				break
			}
			rest = rest[i+copy(rest[i:], e.new):]
		}
	}
}

// tell serves the orders of Await.
func (p *Proxy) tell(request []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for a := p.awaits.take(request); a != nil; a = p.awaits.take(request) {
		close(a.done)
	}
}

// Forget takes back the losses that were ordered and have not happened.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.losses = nil
}

// Close resets all links, stops listening and returns when nothing of the proxy runs.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.letThroughLocked()
	p.mu.Unlock()
	// The listener is ours alone; its only error is that it was closed before.
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

// pump copies from src to dst until either ends. see decides about each chunk before it
// passes; a false answer ends the link. A polite end of src is passed on like a byte: it
// waits its turn, it does not overtake what was sent before, and it leaves the other
// direction alone.
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

// hold waits for as long as bytes are held back or delayed; false: the link is gone.
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

// upstream looks at a request: false when it is to be lost.
func (p *Proxy) upstream(l *link, request []byte) bool {
	p.edit(request)
	if !p.keep(l, request) {
		return false
	}
	p.mu.Lock()
	order := p.losses.take(request)
	p.mu.Unlock()
	if order == nil {
		return true
	}
	if order.half == Request {
		close(order.done)
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.losing = order
	return true
}

// downstream looks at a reply: false when it is to be lost.
func (p *Proxy) downstream(l *link, _ []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.losing == nil {
		return true
	}
	close(l.losing.done)
	l.losing = nil
	return false
}

func (l *link) close() {
	l.once.Do(func() {
		close(l.gone)
		reset(l.client)
		reset(l.server)
	})
}

// reset closes a connection so that the other side sees an error and not a polite end.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		// It only changes how the close looks from outside.
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
