package sources

import (
	"sort"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
)

// ring numbers the events and keeps the newest ones. EventRenewed and EventPresent have a queue of their own, so that
// the renewals of a thousand healthy leaders do not displace the failure of one. It is safe for concurrent use, and
// holds its lock only briefly, so that reading events never waits for a publish.
type ring struct {
	most int
	age  time.Duration
	lean bool // drop an EventPresent once it was read, see needlessLocked; a replay keeps it, because its readers may come later

	mu       sync.Mutex
	last     uint64 // number of the newest event
	changes  eventQueue
	renewals eventQueue
	subs     map[*Subscription]struct{}
}

func newRing(most int, age time.Duration) *ring {
	return &ring{most: most, age: age, subs: map[*Subscription]struct{}{}}
}

// append numbers the events in place, keeps them and wakes the subscribers.
func (r *ring) append(events []Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	news := false
	for i := range events {
		r.last++
		events[i].Seq = r.last
		news = news || events[i].Kind != EventRenewed
		if k := events[i].Kind; k == EventRenewed || k == EventPresent {
			r.renewals.push(&events[i])
		} else {
			r.changes.push(&events[i])
		}
		r.boundLocked()
	}
	r.expireLocked(events[len(events)-1].Mono)
	r.wakeLocked(news)
}

// jump makes last the number of the newest event. It must not be smaller than that was.
func (r *ring) jump(last uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = last
}

// boundLocked drops the oldest renewal if there are many, else the oldest event of the other queue.
func (r *ring) boundLocked() {
	for r.renewals.len()+r.changes.len() > r.most {
		if r.renewals.len() > r.most/4 {
			r.renewals.drop()
		} else {
			r.changes.drop()
		}
	}
}

func (r *ring) expireLocked(now time.Duration) {
	for r.changes.len() > 0 && r.changes.at(0).Mono < now-r.age {
		r.changes.drop()
	}
	for r.renewals.len() > 0 && (r.renewals.at(0).Mono < now-r.age || r.needlessLocked(r.renewals.at(0), now)) {
		r.renewals.drop()
	}
}

// presentAge is the minimum age at which an EventPresent is dropped. They are dropped because 100,000 of them need 45
// MB and the rows contain the same.
const presentAge = 10 * time.Second

// needlessLocked reports whether e is an EventPresent of that age which every subscriber has read.
func (r *ring) needlessLocked(e *Event, now time.Duration) bool {
	if !r.lean || e.Kind != EventPresent || e.Mono >= now-presentAge {
		return false
	}
	for s := range r.subs {
		if s.cursor < e.Seq {
			return false
		}
	}
	return true
}

// expire drops events that are too old at now, measured like Event.Mono.
func (r *ring) expire(now time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expireLocked(now)
}

// unread returns how many events the slowest reader has not read yet.
func (r *ring) unread() (most uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.subs {
		if s.reads {
			most = max(most, r.last-s.cursor)
		}
	}
	return most
}

// newest returns the number of the newest event.
func (r *ring) newest() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// wake wakes the subscribers for a new state. news reports whether the state has changes other than proof of life and
// renewals.
func (r *ring) wake(news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wakeLocked(news)
}

func (r *ring) wakeLocked(news bool) {
	for s := range r.subs {
		if news || !s.skipsCalm {
			spawn.Wake(s.wake)
		}
	}
}

// subscribe returns a subscription to the events with numbers above from.
func (r *ring) subscribe(from uint64) *Subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &Subscription{ring: r, cursor: min(from, r.last), wake: make(chan struct{}, 1)}
	if from == 0 {
		s.forgiven = r.last - uint64(r.changes.len()+r.renewals.len())
	}
	if r.last > s.cursor {
		s.wake <- struct{}{}
	}
	r.subs[s] = struct{}{}
	return s
}

// readLocked returns up to max events after cursor in order; max <= 0: all.
func (r *ring) readLocked(cursor uint64, max int) []Event {
	c, n := r.changes.after(cursor), r.renewals.after(cursor)
	left := r.changes.len() - c + r.renewals.len() - n
	if left == 0 {
		return nil
	}
	if max > 0 {
		left = min(left, max)
	}
	events := make([]Event, 0, left)
	for range left {
		if n == r.renewals.len() || c < r.changes.len() && r.changes.at(c).Seq < r.renewals.at(n).Seq {
			events = append(events, *r.changes.at(c))
			c++
		} else {
			events = append(events, *r.renewals.at(n))
			n++
		}
	}
	return events
}

// Subscription reads events in order and at its own pace. It holds no events, so that a Subscription that never reads
// costs nothing.
type Subscription struct {
	ring      *ring
	wake      chan struct{}
	cursor    uint64 // number of the last event read or missed
	reads     bool   // Events was called
	skipsCalm bool   // see SkipCalm
	forgiven  uint64 // events dropped before the subscription, which do not count as missed
}

// Wake returns a channel that receives after new events or a new state; one wake-up stands
// for any number of them. It is never closed.
func (s *Subscription) Wake() <-chan struct{} { return s.wake }

// SkipCalm ends the wake-ups for renewals, and for states that differ only in them and in proof of life. It is for a
// reader that reads once a second anyway.
func (s *Subscription) SkipCalm() {
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()
	s.skipsCalm = true
}

// Events returns at most max events (max <= 0: all), oldest first, and moves the cursor past them. missed counts the
// events before the last of them that were dropped unread; a reader that missed some must start again from the state.
// It never blocks and is safe for concurrent use.
func (s *Subscription) Events(max int) (events []Event, missed uint64) {
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()
	s.reads = true
	events = s.ring.readLocked(s.cursor, max)
	end := s.ring.last
	if max > 0 && len(events) == max {
		end = events[max-1].Seq
	}
	missed = end - s.cursor - uint64(len(events))
	pardon := min(missed, s.forgiven)
	s.forgiven -= pardon
	s.cursor = end
	return events, missed - pardon
}

// Close ends the wake-ups. Kept events can still be read. A second call does nothing.
func (s *Subscription) Close() {
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()
	delete(s.ring.subs, s)
}

// eventQueue is a queue of events, in the order of their numbers.
type eventQueue struct{ chunked[Event] }

// after returns the index of the first event after cursor.
func (l *eventQueue) after(cursor uint64) int {
	return sort.Search(l.count, func(i int) bool { return l.at(i).Seq > cursor })
}

// chunked is a queue in chunks, so that it neither copies its items when it grows nor holds memory for
// dropped ones.
type chunked[T any] struct {
	chunks [][]T
	first  int // index of the oldest item in chunks[0]
	count  int
}

// chunkItems is the number of items in one allocation.
const chunkItems = 32

func (l *chunked[T]) len() int { return l.count }

func (l *chunked[T]) at(i int) *T {
	i += l.first
	return &l.chunks[i/chunkItems][i%chunkItems]
}

func (l *chunked[T]) push(item *T) {
	if n := len(l.chunks); n == 0 || len(l.chunks[n-1]) == chunkItems {
		l.chunks = append(l.chunks, make([]T, 0, chunkItems))
	}
	last := len(l.chunks) - 1
	l.chunks[last] = append(l.chunks[last], *item)
	l.count++
}

// drop removes the oldest item.
func (l *chunked[T]) drop() {
	var none T
	l.chunks[0][l.first] = none
	l.first++
	l.count--
	if l.first < chunkItems {
		return
	}
	l.chunks[0] = nil
	l.chunks = l.chunks[1:]
	l.first = 0
}
