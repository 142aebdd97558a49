package sources

import "sync"

// index finds the slot of a primitive. It has a lock of its own, so that looking a row up
// never waits for a Change that is being applied.
type index struct {
	mu    sync.RWMutex
	slots map[Ref]int32
}

func (x *index) find(ref Ref) (slot int, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s, ok := x.slots[ref]
	return int(s), ok
}

func (x *index) add(ref Ref, slot int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.slots == nil {
		x.slots = map[Ref]int32{}
	}
	x.slots[ref] = int32(slot)
}

func (x *index) remove(ref Ref) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.slots, ref)
}
