package ydbtest

import (
	"container/heap"
	"time"
)

// timer is one thing that the model does by itself at a moment.
type timer struct {
	at    time.Time
	order uint64
	index int // in the heap; -1 when it is not there
	fire  func()
}

// timers holds what is due later: sessions that expire, claims that time out, pings.
// Those due at the same moment fire in the order in which they were set.
type timers struct {
	due  dueHeap
	last uint64
}

func (t *timers) set(at time.Time, fire func()) *timer {
	t.last++
	tm := &timer{at: at, order: t.last, fire: fire}
	heap.Push(&t.due, tm)
	return tm
}

// stop takes a timer out. One that has fired, was stopped or is nil is no matter.
func (t *timers) stop(tm *timer) {
	if tm == nil || tm.index < 0 {
		return
	}
	heap.Remove(&t.due, tm.index)
}

// next says when the next timer is due; false: there is none.
func (t *timers) next() (time.Time, bool) {
	if len(t.due) == 0 {
		return time.Time{}, false
	}
	return t.due[0].at, true
}

func (t *timers) pop() *timer {
	tm, _ := heap.Pop(&t.due).(*timer)
	return tm
}

// dueHeap implements heap.Interface.
type dueHeap []*timer

func (h dueHeap) Len() int { return len(h) }

func (h dueHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].order < h[j].order
	}
	return h[i].at.Before(h[j].at)
}

func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *dueHeap) Push(x any) {
	tm, _ := x.(*timer)
	tm.index = len(*h)
	*h = append(*h, tm)
}

func (h *dueHeap) Pop() any {
	old := *h
	last := len(old) - 1
	tm := old[last]
	old[last] = nil
	*h = old[:last]
	tm.index = -1
	return tm
}
