package dflocktest

import (
	"slices"
	"time"
)

// entryKey is the name of an entry. semaphore is always false if both kinds share one namespace.
type entryKey struct {
	semaphore bool
	name      string
}

// entry is one lock or semaphore; a lock is a semaphore of limit 1.
type entry struct {
	key    entryKey
	limit  int
	owners map[string]*owner // by nonce
	queue  []*waiter
	used   time.Time
}

type owner struct {
	client *client
	ends   time.Time
}

type waiter struct {
	client *client
	lease  time.Duration
	place  *place // nil: it waits in l
}

// place is the result of e that w waits for: a waiter, or a grant.
type place struct {
	entry  *entry
	waiter *waiter // nil: granted
	nonce  string
	lease  time.Duration
}

// wait is a request of a client that has no answer yet.
type wait struct {
	entry  *entry
	waiter *waiter
	until  time.Time
}

func (m *model) keyOf(r request) entryKey {
	return entryKey{r.semaphore && m.options.Newer.Namespaces, r.key}
}

// claim returns the entry for l or e, and makes it if it is missing. word is the refusal if it cannot.
func (m *model) claim(r request) (e *entry, word string) {
	key := m.keyOf(r)
	e = m.entries[key]
	switch {
	case e != nil && e.limit != r.limit:
		return nil, "error_limit_mismatch"
	case e == nil && len(m.entries) >= m.options.MaxLocks:
		return nil, "error_max_locks"
	case e == nil:
		e = &entry{key: key, limit: r.limit, owners: map[string]*owner{}}
		m.entries[key] = e
	}
	e.used = m.now
	m.evict(e)
	return e, ""
}

func (e *entry) free() bool { return len(e.owners) < e.limit && len(e.queue) == 0 }

func (m *model) grant(e *entry, c *client, lease time.Duration) (nonce string) {
	nonce = m.nonce()
	e.owners[nonce] = &owner{client: c, ends: m.now.Add(lease)}
	e.used = m.now
	return nonce
}

// serve grants free permits to the first waiters.
func (m *model) serve(e *entry) {
	for len(e.owners) < e.limit && len(e.queue) > 0 {
		w := e.queue[0]
		e.queue = e.queue[1:]
		nonce := m.grant(e, w.client, w.lease)
		if w.place != nil {
			w.place.waiter, w.place.nonce = nil, nonce
		}
		if c := w.client; c.waits != nil && c.waits.waiter == w {
			c.waits = nil
			c.done(w)
			m.reply(c, m.granted("ok", nonce, w.lease))
		}
	}
}

// drop takes a grant away and serves the next.
func (m *model) drop(e *entry, nonce string) {
	delete(e.owners, nonce)
	if m.records {
		m.endings = append(m.endings, e.key.name)
	}
	e.used = m.now
	m.serve(e)
}

// evict ends the leases that have run out.
func (m *model) evict(e *entry) {
	for nonce, o := range e.owners {
		if m.now.Before(o.ends) {
			continue
		}
		if m.options.Newer.ChecksWait {
			o.client.forget(e, nonce)
		}
		m.drop(e, nonce)
	}
}

func (m *model) releaseAll(e *entry, c *client) {
	for nonce, o := range e.owners {
		if o.client == c {
			m.drop(e, nonce)
		}
	}
}

// leave takes a client out of the queue.
func (e *entry) leave(c *client) {
	e.queue = slices.DeleteFunc(e.queue, func(w *waiter) bool { return w.client == c })
}

// forget drops the place that e left for w, if it was the grant with this nonce.
func (c *client) forget(e *entry, nonce string) {
	if p := c.places[e.key]; p != nil && p.nonce == nonce {
		delete(c.places, e.key)
	}
}

// done drops the place that e left for w, once w is answered. It changes nothing after an l.
func (c *client) done(w *waiter) {
	if w.place != nil {
		delete(c.places, w.place.entry.key)
	}
}

// giveUp ends a wait without a grant.
func (m *model) giveUp(c *client, word string) {
	w := c.waits
	c.waits = nil
	c.done(w.waiter)
	w.entry.queue = slices.DeleteFunc(w.entry.queue, func(other *waiter) bool { return other == w.waiter })
	w.entry.used = m.now
	m.reply(c, word)
}
