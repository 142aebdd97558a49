package localserver

import (
	"net"
	"time"
)

// Cut resets every link and from then on every new one, until Resume.
func (p *Proxy) Cut() {
	p.mu.Lock()
	p.refuse = true
	p.mu.Unlock()
	p.Reset()
}

// Reset resets every link once, all at the same instant: what a server does because it lost one of them
// reaches nobody over another. New ones are served.
func (p *Proxy) Reset() {
	p.Freeze()
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

// BlackHole holds back every byte in both directions until Resume, on links that are up
// and on new ones: nobody is told anything. As with a real outage, what was sent meanwhile
// arrives after Resume, even if its sender has given up.
func (p *Proxy) BlackHole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
		p.open = make(chan struct{})
	default:
	}
}

// Freeze lets no byte pass on the links that are up, for ever, and tells nobody; new ones are
// served. So do links whose state a firewall has dropped.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.frozen.Store(true)
	}
}

// DropClients resets the links that are up towards the clients. The server is told nothing and keeps
// what it has of them, as behind a proxy or an address translation that closes one side only; new
// links are served.
func (p *Proxy) DropClients() {
	p.Freeze()
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		reset(l.client)
	}
}

// HalfClose ends the links that are up politely towards the clients. Bytes that a client still
// sends reach the server, which is told nothing.
func (p *Proxy) HalfClose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.deaf.Store(true)
		// A link that is gone needs no end.
		_ = l.client.(*net.TCPConn).CloseWrite()
	}
}

// Delay adds d to the way of all bytes, in each direction. 0: none.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Resume ends Cut and BlackHole. Delay and losses that were ordered stay.
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
