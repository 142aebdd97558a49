package rows

import (
	"time"

	"coordtop/sources"
)

// EventGroup is an event, and how many routine ones its row had in the same stretch of time.
type EventGroup struct {
	Event *sources.Event // the newest
	First time.Time      // when the oldest happened
	More  int            // how many others there are
}

// groupStretch is the stretch of time in which the routine events of a row are one group: from
// one multiple of it to the next, so that groups of the past do not change.
const groupStretch = 10 * time.Second

// routine reports whether an event is one that a row has all the time: owners take turns on a
// lock, and permits come and go. Events of elections are never routine.
func routine(e *sources.Event) bool {
	if e.RefKind == sources.KindElection || e.Ref.Name == "" {
		return false
	}
	switch e.Kind {
	case sources.EventAcquired:
		return e.Detail == "" // else it begins a conflict
	case sources.EventProclaimed, sources.EventCountChanged:
		return true
	case sources.EventReleased, sources.EventOwnerChanged:
		return e.Cause == sources.CauseReleased || e.Cause == sources.CauseUnknown
	}
	return false
}

// Groups returns the newest events that pass, in at most n groups.
func (log *Log) Groups(n int, pass func(*sources.Event) bool) []EventGroup {
	type stretch struct {
		ref sources.Ref
		at  time.Time
	}
	var list []EventGroup
	groups := map[stretch]int{}
	for e := range log.Newest {
		if !pass(e) {
			continue
		}
		key := stretch{e.Ref, e.At.Truncate(groupStretch)}
		at, known := groups[key]
		if !routine(e) || !known {
			if len(list) == n {
				break
			}
			at = len(list)
			list = append(list, EventGroup{Event: e, More: -1})
			if routine(e) {
				groups[key] = at
			}
		}
		list[at].First = e.At
		list[at].More++
	}
	return list
}
