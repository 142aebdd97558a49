package rows

import (
	"time"

	"coordtop/sources"
)

// News is an event, and what else its row did in the same stretch of time.
type News struct {
	Event      *sources.Event // the newest
	First      time.Time      // when the oldest happened
	More       int            // how many others there are
	Took, Gone int            // owners that came and went, of all of them
}

// newsStretch is over what time the chatter of a row is one line: from one multiple of it
// to the next, so that the lines of what is past stand still.
const newsStretch = 10 * time.Second

// chatter reports whether an event is what a row does all the time: who takes turns on a lock,
// and whose permits come and go. Elections are news each time.
func chatter(e *sources.Event) bool {
	if e.RefKind == sources.KindElection || e.Ref.Name == "" {
		return false
	}
	switch e.Kind {
	case sources.EventAcquired, sources.EventProclaimed:
		return true
	case sources.EventReleased, sources.EventOwnerChanged:
		return e.Cause == sources.CauseReleased || e.Cause == sources.CauseUnknown
	}
	return false
}

// News finds at most n lines' worth of the newest events that pass.
func (log *Log) News(n int, pass func(*sources.Event) bool) []News {
	type stretch struct {
		ref sources.Ref
		at  time.Time
	}
	var list []News
	lines := map[stretch]int{}
	for e := range log.Newest {
		if !pass(e) {
			continue
		}
		key := stretch{e.Ref, e.At.Truncate(newsStretch)}
		at, known := lines[key]
		if !chatter(e) || !known {
			if len(list) == n {
				break
			}
			at = len(list)
			list = append(list, News{Event: e, More: -1})
			if chatter(e) {
				lines[key] = at
			}
		}
		list[at].add(e)
	}
	return list
}

func (n *News) add(e *sources.Event) {
	n.First = e.At
	n.More++
	if e.Kind.BeginsOwner() {
		n.Took++
	}
	if e.Kind.EndsOwner() {
		n.Gone++
	}
}
