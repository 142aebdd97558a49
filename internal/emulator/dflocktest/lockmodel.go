package dflocktest

import (
	"encoding/hex"
	"math/rand/v2"
	"time"
)

// model is the state of a server. It does nothing by itself: advance moves it to a time, and the resulting answers go
// to the clients' answer functions.
type model struct {
	options Options
	now     time.Time
	entries map[entryKey]*entry
	clients map[uint64]*client
	lastID  uint64
	fence   uint64
	sweepAt time.Time
	gcAt    time.Time
	shutAt  time.Time // zero: it is not being shut down
	records bool      // whether endings is filled
	endings []string  // keys, one for each grant that ended
}

// client is one connection as the model sees it.
type client struct {
	id      uint64
	answer  func(answer)
	trusted bool // the client need not authenticate any more
	idleAt  time.Time
	endAt   time.Time // zero: not yet known
	waits   *wait     // nil: it does not wait in l or w
	places  map[entryKey]*place
}

// answer is a line for a client, without LF, or the end of its connection, or both.
type answer struct {
	line string
	end  bool
}

// refusedAuthDelay is the time for which a connection with a wrong secret stays open.
const refusedAuthDelay = 100 * time.Millisecond

func newModel(o Options, now time.Time) *model {
	return &model{
		options: o, now: now, fence: uint64(now.UnixNano()),
		entries: map[entryKey]*entry{}, clients: map[uint64]*client{},
		sweepAt: now.Add(o.SweepEvery), gcAt: now.Add(o.GCEvery),
	}
}

// open gives a new connection its id. It returns nil if too many are open.
func (m *model) open(deliver func(answer)) *client {
	if most := m.options.MaxConnections; most > 0 && len(m.clients) >= most {
		return nil
	}
	m.lastID++
	c := &client{id: m.lastID, answer: deliver, trusted: m.options.Secret == "", places: map[entryKey]*place{}}
	m.clients[c.id] = c
	m.active(c)
	return c
}

// active restarts the idle time-out of a connection, which each line of a request does.
func (m *model) active(c *client) { c.idleAt = m.now.Add(m.options.ReadTimeout) }

func (m *model) reply(c *client, line string) {
	m.active(c)
	c.answer(answer{line: line})
}

// end answers, closes the connection and handles its end.
func (m *model) end(c *client, line string) {
	c.answer(answer{line: line, end: true})
	m.hangUp(c)
}

// refuse ends a connection that did not authenticate, after refusedAuthDelay.
func (m *model) refuse(c *client) {
	m.reply(c, "error_auth")
	c.endAt = m.now.Add(refusedAuthDelay)
}

// broken ends a connection because of what it sent, or because it sent nothing in time.
func (m *model) broken(c *client) {
	switch {
	case m.clients[c.id] != c || !c.endAt.IsZero():
	case !c.trusted:
		m.refuse(c)
	default:
		m.end(c, "error")
	}
}

// hangUp forgets a connection. A second call does nothing.
func (m *model) hangUp(c *client) {
	if m.clients[c.id] != c {
		return
	}
	delete(m.clients, c.id)
	c.waits = nil
	for _, e := range m.entries {
		if !m.options.KeepOnDisconnect || m.options.Newer.NoticesHangUps {
			e.leave(c)
		}
		if !m.options.KeepOnDisconnect {
			m.releaseAll(e, c)
		}
	}
}

// advance runs everything that is due until now, in order.
func (m *model) advance(now time.Time) {
	for {
		due, ok := m.next()
		if !ok || due.After(now) {
			break
		}
		if due.After(m.now) { // due may be in the past: a sweep without work was skipped
			m.now = due
		}
		m.act()
	}
	m.now = now
}

// next returns when something is due; false if nothing is.
func (m *model) next() (time.Time, bool) {
	var first time.Time
	earlier := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	if len(m.entries) > 0 {
		earlier(m.sweepAt)
		earlier(m.gcAt)
	}
	if len(m.clients) > 0 {
		earlier(m.shutAt)
	}
	for _, c := range m.clients {
		earlier(c.due())
	}
	return first, !first.IsZero()
}

func (c *client) due() time.Time {
	switch {
	case !c.endAt.IsZero():
		return c.endAt
	case c.waits != nil:
		return c.waits.until
	}
	return c.idleAt
}

func (m *model) act() {
	if len(m.clients) > 0 && !m.shutAt.IsZero() && !m.now.Before(m.shutAt) {
		for _, c := range m.clients {
			m.end(c, "")
		}
	}
	if at := next(m.sweepAt, m.options.SweepEvery, m.now); at != m.sweepAt {
		m.sweepAt = at
		for _, e := range m.entries {
			m.evict(e)
		}
	}
	for _, c := range m.clients {
		switch due := c.due(); {
		case m.now.Before(due):
		case !c.endAt.IsZero():
			m.end(c, "")
		case c.waits != nil:
			m.giveUp(c, "timeout")
		default:
			m.broken(c)
		}
	}
	if at := next(m.gcAt, m.options.GCEvery, m.now); at != m.gcAt {
		m.gcAt = at
		for key, e := range m.entries {
			if len(e.owners) == 0 && len(e.queue) == 0 && m.now.Sub(e.used) > m.options.GCIdle {
				delete(m.entries, key)
			}
		}
	}
}

// next returns the first tick after now of a ticker that was due next at the time at.
func next(at time.Time, every time.Duration, now time.Time) time.Time {
	if now.Before(at) {
		return at
	}
	return at.Add((now.Sub(at)/every + 1) * every)
}

// shutDown does what the server does on SIGTERM.
func (m *model) shutDown() {
	m.shutAt = m.now.Add(m.options.ShutdownTimeout)
	for _, c := range m.clients {
		if c.waits != nil {
			m.giveUp(c, m.drainingWord())
		}
	}
}

func (m *model) drainingWord() string {
	if m.options.Newer.Draining {
		return "error_draining"
	}
	return "error"
}

// nonce makes the proof of a new grant.
func (m *model) nonce() string {
	first := rand.Uint64()
	if m.options.Newer.Fences {
		m.fence++
		first = m.fence
	}
	var b [16]byte
	for i := range 8 {
		b[i] = byte(first >> (56 - 8*i))
	}
	for i, salt := 8, rand.Uint64(); i < 16; i, salt = i+1, salt>>8 {
		b[i] = byte(salt)
	}
	return hex.EncodeToString(b[:])
}
