package localserver

import (
	"net"
	"time"
)

// Cut resets every link now, and every new one until Resume.
func (p *Proxy) Cut() {
	p.mu.Lock()
	p.refuse = true
	p.mu.Unlock()
	p.Reset()
}

// Reset resets every link at the same instant, so that a reaction of the server to the end of one link reaches no
// client over another. New links are served.
func (p *Proxy) Reset() {
	p.Freeze()
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// BlackHole holds back every byte in both directions until Resume, on open links and on new ones, without notifying
// either end. As after a real outage, these bytes arrive after Resume, even if their sender has given up.
func (p *Proxy) BlackHole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
		p.open = make(chan struct{})
	default:
	}
}

// Freeze lets no byte pass on the open links any more, without notifying either end, like a firewall that has dropped
// their state. New links are served. Resume does not end this.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.frozen.Store(true)
	}
}

// DropClients resets the open links towards the clients. The server is not notified and keeps its side open, as behind
// a proxy or a NAT that closes only one side. New links are served.
func (p *Proxy) DropClients() {
	p.Freeze()
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		reset(l.client)
	}
}

// HalfClose closes the open links towards the clients without a reset. Bytes that a client still sends reach the
// server, which is not notified.
func (p *Proxy) HalfClose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.deaf.Store(true)
		// An error means that the link is gone.
		_ = l.client.(*net.TCPConn).CloseWrite()
	}
}

// Delay delays all bytes by d, in each direction. A d of 0 ends that.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Resume ends Cut and BlackHole, but not Delay, and not the orders of Lose.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = false
	p.letThroughLocked()
}

func (p *Proxy) letThroughLocked() {
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}
