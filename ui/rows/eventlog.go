package rows

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"

	"coordtop/sources"
)

// Log keeps the last events, oldest first, and the last renewals in a compact form: renewals are
// many and only their times are drawn. It numbers events itself, because events of earlier runs
// of the recording come first.
type Log struct {
	List     []sources.Event
	Actions  []sources.Event // the last of them that were actions of people, also those that List has dropped since
	Missed   uint64          // dropped by the feed before we read them
	Since    time.Time       // of the oldest event that is known
	seq      uint64          // of the event that was read last
	renewals renewalLog
	Tally    Tally

	fresh int    // loud events since the last second
	Shown uint64 // number of the newest event that the pane shows
	Busy  bool   // the pane is drawn once a second
}

// paneBurst is the rate of events per second up to which the pane shows each at once. At higher
// rates nobody can read along, and every event moves all lines of the pane.
const paneBurst = 3

const (
	keptEvents = 4000
	eventBatch = 1000 // read in one go
	maxBatches = 10   // more is left for the next wake-up
)

// keptActs bounds the actions that are kept.
const keptActs = 100

// Acts returns when we acted on a row, oldest first.
func (log *Log) Acts(ref sources.Ref) []time.Time {
	var at []time.Time
	for i := range log.Actions {
		if e := &log.Actions[i]; e.Ref == ref {
			at = append(at, e.At)
		}
	}
	return at
}

type eventFeed interface {
	// Events returns at most max events that were not returned before, oldest first, and
	// how many were dropped before they could be.
	Events(max int) (events []sources.Event, missed uint64)
}

// Read reads the new events, and keeps those that are drawn.
func (log *Log) Read(feed eventFeed) {
	defer log.show()
	for range maxBatches {
		events, missed := feed.Events(eventBatch)
		log.Missed += missed
		for i := range events {
			e := &events[i]
			log.seq++
			later := e.Kind == sources.EventAction || e.Kind == sources.EventNote // reported after they happened
			if log.Since.IsZero() || e.At.Before(log.Since) && !later {
				log.Since = e.At
			}
			if e.Kind == sources.EventRenewed {
				log.renewals.add(e)
			}
			if e.Kind == sources.EventAction {
				log.Actions = append(log.Actions, *e)
				log.Actions = log.Actions[max(len(log.Actions)-keptActs, 0):]
			}
			if e.Kind.Happened() {
				log.Tally.add(e)
				log.List = append(log.List, *e)
				log.List[len(log.List)-1].Seq = log.seq
				if Loud(e) {
					log.fresh++
				}
			}
		}
		if over := len(log.List) - keptEvents; over > keptEvents/4 {
			log.List = slices.Delete(log.List, 0, over)
			log.Since = log.List[0].At
		}
		if len(events) < eventBatch {
			return
		}
	}
}

// show lets the pane show the new events, unless they are too many, or were in the last second.
// Events from before the start are not new.
func (log *Log) show() {
	if log.Shown == 0 {
		log.fresh = 0
	}
	if n := len(log.List); n > 0 && (log.fresh == 0 || !log.Busy && log.fresh <= paneBurst) {
		log.Shown = log.List[n-1].Seq
	}
}

// Second lets the pane show all events. It must be called once a second.
func (log *Log) Second() {
	log.Busy, log.fresh = log.fresh > paneBurst, 0
	log.show()
}

// Kept returns the time from which on all events of what began then are kept; now, if the log is
// empty.
func (log *Log) Kept(began, now time.Time) time.Time {
	if len(log.List) == 0 {
		return now
	}
	return sources.Earlier(sources.Later(log.List[0].At, began), now)
}

// Find returns the event with this number; nil if it is not kept.
func (log *Log) Find(seq uint64) *sources.Event {
	i, ok := slices.BinarySearchFunc(log.List, seq, func(e sources.Event, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	if !ok {
		return nil
	}
	return &log.List[i]
}

// Loud reports whether the pane lists an event among those of all rows. Other events are shown with
// their row only, and on the Events screen.
func Loud(e *sources.Event) bool {
	return e.Kind != sources.EventWaiterJoined && e.Kind != sources.EventWaiterLeft
}

// renewal is a renewal in 32 bytes.
type renewal struct {
	row  uint64        // which row: a hash of its Ref
	at   time.Duration // since the log's origin
	left time.Duration // of the lease, just before
	who  uint64        // which owner: a hash of its ID
}

// keptRenewals bounds the renewals of all rows together: half a megabyte, which lasts for seconds
// with very many rows, and for hours with a few.
const keptRenewals = 16_384

// renewalLog keeps the newest renewals of all rows. The zero value is empty.
type renewalLog struct {
	seed   maphash.Seed
	origin time.Time
	ring   []renewal
	next   int
}

func (log *renewalLog) add(e *sources.Event) {
	if log.ring == nil {
		log.seed, log.origin = maphash.MakeSeed(), e.At
	}
	r := renewal{row: maphash.Comparable(log.seed, e.Ref), at: e.At.Sub(log.origin), left: e.LeaseLeft,
		who: maphash.String(log.seed, e.Owner.ID)}
	if len(log.ring) < keptRenewals {
		log.ring = append(log.ring, r)
		return
	}
	log.ring[log.next] = r
	log.next = (log.next + 1) % keptRenewals
}

// of returns the renewals of a row since an instant, oldest first.
func (log *renewalLog) of(ref sources.Ref, since time.Time) []renewal {
	if len(log.ring) == 0 {
		return nil
	}
	row, from := maphash.Comparable(log.seed, ref), since.Sub(log.origin)
	var found []renewal
	for i := range log.ring {
		r := &log.ring[(log.next+i)%len(log.ring)]
		if r.row == row && r.at >= from {
			found = append(found, *r)
		}
	}
	return found
}

// Newest yields the kept events, newest first.
func (log *Log) Newest(yield func(*sources.Event) bool) {
	for i := len(log.List) - 1; i >= 0; i-- {
		if !yield(&log.List[i]) {
			return
		}
	}
}

// EventGroup is an event, and the number of routine events of its row in the same stretch of time.
type EventGroup struct {
	Event *sources.Event // the newest
	First time.Time      // time of the oldest
	More  int            // number of the others
}

// groupStretch is the length of the stretches in which the routine events of a row form one group.
// Stretches begin at multiples of it, so that groups of the past do not change.
const groupStretch = 10 * time.Second

// routine reports whether an event is an everyday one: owners take turns on a lock, or permits
// are taken and released. Events of elections are never routine.
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

// Fill is a stretch that begins with a whole lease: from a renewal, or the beginning of a
// term, to the next renewal or the end of the term.
type Fill struct {
	At, Until time.Time
	Left      time.Duration // at the end of it
}

// Fills returns the fills of all terms of a row since an instant, as far as renewals are kept.
func (l *Log) Fills(row *sources.Row, lease time.Duration, since, now time.Time) []Fill {
	log := &l.renewals
	renewals := log.of(row.Ref, since)
	var fills []Fill
	for i := range row.Terms {
		t := &row.Terms[i]
		end := t.End.At
		if end.IsZero() {
			end = now
		}
		if !end.After(since) {
			continue
		}
		open := len(fills)
		if t.Start.How != sources.AtLeast && t.Start.How != sources.Unknown && !t.Start.At.Before(since) {
			fills = append(fills, Fill{At: t.Start.At})
		}
		for j := range renewals {
			r, at := &renewals[j], log.origin.Add(renewals[j].at)
			if !at.After(t.Start.At) || at.After(end) || r.who != maphash.String(log.seed, t.Owner.ID) {
				continue
			}
			if n := len(fills); n > open {
				fills[n-1].Until, fills[n-1].Left = at, r.left
			}
			fills = append(fills, Fill{At: at})
		}
		if n := len(fills); n > open {
			fills[n-1].Until = end
		}
	}
	known := fills[:0]
	for _, f := range fills {
		length := f.Until.Sub(f.At)
		switch long := length > lease+lease/4; { // then some of its renewals are not kept any more
		case f.Left > 0 && long:
			f.At = f.Until.Add(f.Left - lease)
		case long:
			continue
		case f.Left == 0: // not told: counted down from a whole lease
			f.Left = max(lease-length, 0)
		}
		known = append(known, f)
	}
	return known
}
