package ui

import (
	"strconv"
	"time"

	"coordtop/sources"
)

// prim is a primitive being written down, in the words of a story.
type prim struct{ p sources.Primitive }

func (s *story) prim(kind sources.Kind, source, space, name string) prim {
	return prim{sources.Primitive{Ref: sources.Ref{Source: source, Space: space, Name: name}, Kind: kind,
		Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told}}
}

func (p prim) owner(o sources.Owner) prim {
	p.p.Owners = append(append([]sources.Owner(nil), p.p.Owners...), o)
	p.p.Taken++
	return p
}

func (p prim) limit(n uint64) prim {
	p.p.Limit = n
	return p
}

func (p prim) wait(at time.Time, waiters ...sources.Waiter) prim {
	p.p.Queue = sources.Queue{How: sources.Told, Len: len(waiters), At: at, Waiters: waiters}
	return p
}

// read ends the writing: the primitive as read at that time.
func (p prim) read(at time.Time) *sources.Primitive {
	p.p.At = at
	return &p.p
}

// named is an owner whose ID and label are the same.
func named(id string) sources.Owner { return sources.Owner{ID: id, Label: id} }

// leased is an owner whose lease of that length was renewed at that time.
func leased(id string, at time.Time, lease time.Duration) sources.Owner {
	o := named(id)
	o.Lease = lease
	o.Expires = sources.Stamp{At: at.Add(lease), How: sources.Told}
	return o
}

// attached is an owner that owns as long as its session lives.
func attached(label string, session, fence uint64, data string) sources.Owner {
	id := strconv.FormatUint(session, 16)
	return sources.Owner{ID: id, Session: id, Label: label, Fence: fence, NoExpiry: true, Data: blob(data)}
}

func waiter(label string, session uint64, since time.Time, data string) sources.Waiter {
	id := strconv.FormatUint(session, 16)
	return sources.Waiter{ID: id, Session: id, Label: label, Since: sources.Stamp{At: since, How: sources.Told}, Data: blob(data)}
}

func blob(s string) sources.Blob {
	return sources.Blob{Head: s, Len: len(s), Sum: uint64(len(s))*31 + uint64(len(s)+1)}
}
