package ydbsource

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/ground/mask"
	"coordtop/sources"
)

// row returns a row with the fields that all rows of an entry share.
func (s *nodeState) row(e *entry, at time.Time) *sources.Primitive {
	return &sources.Primitive{
		Ref: s.ref(e), Kind: e.Kind, Expected: e.Expected, Labels: s.o.Labels, At: at, Incarnation: s.incarnation,
		OwnersHow: sources.Told, Queue: sources.Queue{How: sources.Told, At: at},
	}
}

// none returns the row of a semaphore that does not exist. For a mutex, or a semaphore that was ephemeral, this is no
// deletion, because it does not exist while nobody owns it.
func (s *nodeState) none(e *entry, at time.Time) *sources.Primitive {
	p := s.row(e, at)
	switch {
	case e.Kind == sources.KindMutex:
		p.Limit, p.LimitHow, p.Ephemeral = 1, sources.Told, true
		return p
	case e.ephemeral:
		p.Ephemeral = true
		return p
	}
	p.Absent, p.Note = true, "there is no semaphore of this name"
	return p
}

// denied returns the row of a semaphore that we may not read.
func (s *nodeState) denied(e *entry, read ydbcoord.SemaphoreState) *sources.Primitive {
	p := s.row(e, read.At)
	p.OwnersHow, p.Queue = sources.Unknown, sources.Queue{}
	p.Note = "no right to read it: grant the user SELECT ROW on the node"
	return p
}

// primitive returns the row of a semaphore. old is the row before, or nil. since is the Since of waiters that are not
// in old.
func (s *nodeState) primitive(e *entry, read ydbcoord.SemaphoreState, old *sources.Primitive, since sources.Stamp) *sources.Primitive {
	p := s.row(e, read.At)
	p.Limit, p.LimitHow, p.Taken = read.Limit, sources.Told, read.Taken
	p.Ephemeral, p.Data = read.Ephemeral, sources.NewBlob(read.Data, len(read.Data))
	if p.Kind == sources.KindUnknown {
		p.Kind = guess(read.Semaphore)
	}
	whole := p.Kind == sources.KindMutex && isMutex(read.Semaphore)
	if whole {
		p.Limit, p.Taken = 1, uint64(min(1, len(read.Owners)))
	}
	for _, l := range read.Owners {
		p.Owners = append(p.Owners, s.owner(l, whole, p))
	}
	var before []sources.Waiter
	if old != nil {
		before = old.Queue.Waiters
	}
	for _, l := range read.Waiters {
		p.Queue.Waiters = append(p.Queue.Waiters, s.waiter(l, whole, before, since))
	}
	p.Queue.Len = len(p.Queue.Waiters)
	return p
}

// guess infers a kind from the form of a semaphore, because programs make mutexes ephemeral, and elections lasting with
// a limit of 1.
func guess(s ydbcoord.Semaphore) sources.Kind {
	switch {
	case s.Ephemeral && isMutex(s):
		return sources.KindMutex
	case s.Limit == 1:
		return sources.KindElection
	}
	return sources.KindSemaphore
}

// isMutex reports whether a semaphore is owned as a mutex: it is ephemeral, and the owner has all permits.
func isMutex(s ydbcoord.Semaphore) bool {
	return s.Ephemeral && !slices.ContainsFunc(s.Owners, func(l ydbcoord.SemaphoreMember) bool { return l.Count != ydbcoord.AllPermits })
}

// serial returns the order id cut to 16 bits, never 0. Consecutive ids give different values.
func serial(l ydbcoord.SemaphoreMember) uint16 { return uint16(l.Order%math.MaxUint16) + 1 }

func permits(l ydbcoord.SemaphoreMember, whole bool) uint64 {
	if whole && l.Count == ydbcoord.AllPermits {
		return 1
	}
	return l.Count
}

func (s *nodeState) owner(l ydbcoord.SemaphoreMember, whole bool, p *sources.Primitive) sources.Owner {
	o := sources.Owner{
		ID: ydbcoord.OwnerID(l.Session, s.incarnation), Session: ydbcoord.OwnerID(l.Session, ""), Label: label(l), Permits: permits(l, whole),
		Serial: serial(l), Data: sources.NewBlob(l.Data, len(l.Data)), Guard: l.Guard(),
	}
	if p.Limit == 1 {
		o.Fence = l.Order
		return o
	}
	o.Proof = l.Order
	o.Attrs = []sources.Attr{{Key: "order id", Value: strconv.FormatUint(l.Order, 10)}}
	if p.Kind != sources.KindSemaphore && l.Count < p.Limit {
		o.Mode = sources.Shared
	}
	return o
}

// waiter returns a waiter. The service does not report since when it waits, so that Since is the time between the two
// looks where it appeared, or the first look.
func (s *nodeState) waiter(l ydbcoord.SemaphoreMember, whole bool, before []sources.Waiter, since sources.Stamp) sources.Waiter {
	w := sources.Waiter{
		ID: ydbcoord.OwnerID(l.Session, s.incarnation), Session: ydbcoord.OwnerID(l.Session, ""), Label: label(l), Permits: permits(l, whole),
		Order: l.Order, Data: sources.NewBlob(l.Data, len(l.Data)), Guard: l.Guard(), Since: since,
	}
	if l.Timeout > 0 { // else it waits without limit
		w.Timeout = l.Timeout
	}
	for i := range before {
		if before[i].ID == w.ID && before[i].Order == l.Order {
			w.Since = before[i].Since
		}
	}
	return w
}

// labelLimit is the maximum length in bytes of the part of an owner's data that may name the owner.
const labelLimit = 64

// label returns the name of an owner for the screen: the name in the owner's data, else the session.
func label(l ydbcoord.SemaphoreMember) string {
	if name := named(l.Data); name != "" {
		return name
	}
	return "session " + ydbcoord.OwnerID(l.Session, "")
}

// named returns the name in an owner's data: the label of a JSON object, else the first word, cut to a label's length.
// It returns "" if there is no printable name.
func named(data []byte) string {
	name := strings.TrimSpace(string(data[:min(len(data), sources.BlobHead)]))
	if strings.HasPrefix(name, "{") {
		var o struct {
			Label string `json:"label"`
		}
		if json.Unmarshal([]byte(name), &o) != nil {
			return ""
		}
		name = o.Label
	} else if words := strings.Fields(name); len(words) > 0 {
		name = words[0]
	}
	name = mask.Text(name)
	for len(name) > labelLimit {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return name
}
