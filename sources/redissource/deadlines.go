package redissource

import (
	"container/heap"
	"time"
)

// deadlines orders keys by the time at which their lease must be read.
type deadlines struct{ queue lookQueue }

// set schedules k for the time at; a zero time removes it.
func (d *deadlines) set(k *key, at time.Time) {
	k.lookAt = at
	switch {
	case at.IsZero() && k.place >= 0:
		heap.Remove(&d.queue, k.place)
	case at.IsZero():
	case k.place >= 0:
		heap.Fix(&d.queue, k.place)
	default:
		heap.Push(&d.queue, k)
	}
}

// next returns the time of the first key, or zero if none is scheduled.
func (d *deadlines) next() time.Time {
	if len(d.queue) == 0 {
		return time.Time{}
	}
	return d.queue[0].lookAt
}

// due removes and returns the names of keys whose time has come, at most limit of them.
func (d *deadlines) due(now time.Time, limit int) (names []string) {
	for len(names) < limit && len(d.queue) > 0 && !d.queue[0].lookAt.After(now) {
		names = append(names, heap.Pop(&d.queue).(*key).name)
	}
	return names
}

// lookQueue implements heap.Interface.
type lookQueue []*key

func (q lookQueue) Len() int           { return len(q) }
func (q lookQueue) Less(i, j int) bool { return q[i].lookAt.Before(q[j].lookAt) }

func (q lookQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push adds x, a *key.
func (q *lookQueue) Push(x any) {
	k := x.(*key)
	k.place = len(*q)
	*q = append(*q, k)
}

// Pop removes and returns the last key.
func (q *lookQueue) Pop() any {
	last := len(*q) - 1
	k := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	k.place = -1
	return k
}
