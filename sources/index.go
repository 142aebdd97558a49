package sources

import "sync"

// index finds the slot of a primitive. It has a lock of its own, so that looking a row up
// never waits for a Change that is being applied. It has a map for each space: many names
// share one, and a key of names alone takes a third of the memory.
type index struct {
	mu     sync.RWMutex
	spaces map[place]map[string]int32 // slots by name; none is empty
}

// place is a Ref without its name.
type place struct{ source, space string }

func placeOf(ref Ref) place { return place{ref.Source, ref.Space} }

func (x *index) find(ref Ref) (slot int, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s, ok := x.spaces[placeOf(ref)][ref.Name]
	return int(s), ok
}

func (x *index) add(ref Ref, slot int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.spaces == nil {
		x.spaces = map[place]map[string]int32{}
	}
	slots := x.spaces[placeOf(ref)]
	if slots == nil {
		slots = map[string]int32{}
		x.spaces[placeOf(ref)] = slots
	}
	slots[ref.Name] = int32(slot)
}

func (x *index) remove(ref Ref) {
	x.mu.Lock()
	defer x.mu.Unlock()
	slots := x.spaces[placeOf(ref)]
	delete(slots, ref.Name)
	if len(slots) == 0 {
		delete(x.spaces, placeOf(ref))
	}
}
