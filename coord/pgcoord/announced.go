package pgcoord

import (
	"bytes"

	"github.com/jackc/pgx/v5/pgconn"
)

// Read is Join for what arrived on a connection. ok is false also for what is no announcement.
func (j *Joiner) Read(n *pgconn.Notification) (a Announcement, ok bool) {
	if n.Channel != Channel {
		return Announcement{}, false
	}
	a, ok, err := j.Join(n.PID, n.Payload)
	return a, ok && err == nil
}

// Announced is the data that sessions announced last, by their processes. It is a map: not safe
// for concurrent use.
type Announced map[uint32]announcedData

type announcedData struct {
	key  string
	data []byte // never changed
}

// announcedKept is how many sessions' data is remembered.
const announcedKept = 1000

// Note keeps what the session pid announced.
func (m Announced) Note(pid uint32, a Announcement) {
	switch a.Event {
	case Evicted: // not by the owner
		return
	case Released:
		delete(m, pid)
		return
	}
	if len(m) >= announcedKept {
		clear(m)
	}
	m[pid] = announcedData{key: a.Key, data: a.Data}
}

// Data is the data of a session whose name has no room for it, if the session announced it. The
// announced data must shorten to exactly the name that the session has. The name need not be one
// of ours, and the announcement need not be true.
func (m Announced) Data(key Key, pid uint32, name string) ([]byte, bool) {
	a, ok := m[pid]
	if !ok || a.key != key.String() {
		return nil, false
	}
	identity, _, _ := ParseApplicationName(name)
	return bytes.Clone(a.data), ApplicationName(identity, a.data) == name
}
