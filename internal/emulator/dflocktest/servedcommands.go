package dflocktest

import (
	"cmp"
	"crypto/subtle"
	"fmt"
	"time"
)

// request executes a request. The answer comes at once, later, or, if the connection is about to end, not at all.
func (m *model) request(c *client, command, key, argument string) {
	if m.clients[c.id] != c || !c.endAt.IsZero() {
		return
	}
	m.active(c)
	r, ok := parse(command, key, argument, m.options.Newer.Bounds)
	if !c.trusted {
		m.authenticate(c, r, ok)
		return
	}
	if !ok {
		m.reply(c, "error")
		return
	}
	r.lease = cmp.Or(r.lease, m.options.DefaultLease)
	claims := r.verb == "l" || r.verb == "e" || r.verb == "w"
	if claims && !m.shutAt.IsZero() && m.options.Newer.Draining {
		m.reply(c, m.drainingWord())
		return
	}
	if act := map[string]func(*client, request){"l": m.acquire, "e": m.enqueue, "w": m.wait, "r": m.release, "n": m.renew}[r.verb]; act != nil {
		act(c, r)
		return
	}
	switch r.verb {
	case "stats":
		m.reply(c, "ok "+m.stats())
	case "ping":
		m.reply(c, map[bool]string{true: "ok", false: "error"}[m.options.Newer.Ping])
	case "auth": // the server has no secret, or the client has sent it already
		m.reply(c, "error")
	}
}

func (m *model) authenticate(c *client, r request, ok bool) {
	if !ok || r.verb != "auth" || subtle.ConstantTimeCompare([]byte(r.secret), []byte(m.options.Secret)) != 1 {
		m.refuse(c)
		return
	}
	c.trusted = true
	m.reply(c, "ok")
}

// granted returns the line for a grant. A lease of less than a second, which an overflow can leave, is reported as the
// default.
func (m *model) granted(word, nonce string, lease time.Duration) string {
	return fmt.Sprintf("%s %s %d", word, nonce, cmp.Or(lease/time.Second, m.options.DefaultLease/time.Second))
}

func (m *model) acquire(c *client, r request) {
	e, word := m.claim(r)
	switch {
	case word != "":
		m.reply(c, word)
	case e.free():
		m.reply(c, m.granted("ok", m.grant(e, c, r.lease), r.lease))
	case m.full(e):
		m.reply(c, "error_max_waiters")
	default:
		m.await(c, e, &waiter{client: c, lease: r.lease}, r.wait, true)
	}
}

func (m *model) full(e *entry) bool {
	return m.options.MaxWaiters > 0 && len(e.queue) >= m.options.MaxWaiters
}

// await lets a client wait for a grant. With joins it first appends the client to the queue.
func (m *model) await(c *client, e *entry, w *waiter, patience time.Duration, joins bool) {
	if joins {
		e.queue = append(e.queue, w)
	}
	c.waits = &wait{entry: e, waiter: w, until: m.now.Add(patience)}
	switch {
	case !m.shutAt.IsZero():
		m.giveUp(c, m.drainingWord())
	case patience <= 0:
		m.giveUp(c, "timeout")
	}
}

func (m *model) enqueue(c *client, r request) {
	if c.places[m.keyOf(r)] != nil {
		m.reply(c, "error_already_enqueued")
		return
	}
	e, word := m.claim(r)
	switch {
	case word != "":
		m.reply(c, word)
	case e.free():
		p := &place{entry: e, nonce: m.grant(e, c, r.lease), lease: r.lease}
		c.places[e.key] = p
		m.reply(c, m.granted("acquired", p.nonce, p.lease))
	case m.full(e):
		m.reply(c, "error_max_waiters")
	default:
		p := &place{entry: e, lease: r.lease}
		p.waiter = &waiter{client: c, lease: r.lease, place: p}
		c.places[e.key] = p
		e.queue = append(e.queue, p.waiter)
		m.reply(c, "queued")
	}
}

func (m *model) wait(c *client, r request) {
	p := c.places[m.keyOf(r)]
	switch {
	case p == nil:
		m.reply(c, "error_not_enqueued")
		return
	case p.waiter != nil:
		m.await(c, p.entry, p.waiter, r.wait, false)
		return
	}
	delete(c.places, p.entry.key)
	o := p.entry.owners[p.nonce]
	switch {
	case o == nil: // swept: version 1.10 does not check that
	case !m.now.Before(o.ends):
		m.drop(p.entry, p.nonce)
		m.reply(c, "error_lease_expired")
		return
	default:
		o.ends = m.now.Add(p.lease)
		p.entry.used = m.now
	}
	m.reply(c, m.granted("ok", p.nonce, p.lease))
}

// owned returns the grant that a release or a renewal names.
func (m *model) owned(r request) (*entry, *owner) {
	e := m.entries[m.keyOf(r)]
	if e == nil {
		return nil, nil
	}
	e.used = m.now
	return e, e.owners[r.nonce]
}

func (m *model) release(c *client, r request) {
	e, o := m.owned(r)
	if o == nil {
		m.reply(c, "error")
		return
	}
	o.client.forget(e, r.nonce)
	m.drop(e, r.nonce)
	m.reply(c, "ok")
}

func (m *model) renew(c *client, r request) {
	e, o := m.owned(r)
	switch {
	case o == nil:
		m.reply(c, "error")
	case !m.now.Before(o.ends):
		o.client.forget(e, r.nonce)
		m.drop(e, r.nonce)
		m.reply(c, "error")
	default:
		o.ends = m.now.Add(r.lease)
		m.reply(c, fmt.Sprintf("ok %d", r.lease/time.Second))
	}
}
