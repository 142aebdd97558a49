package pgcoord

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/pgwire"
)

// Channel is the channel of announcements.
const Channel = "coordtop"

// Event is the subject of an Announcement.
type Event string

// The events.
const (
	Acquired   Event = "acquired"
	Proclaimed Event = "proclaimed"
	Released   Event = "released"
	// Evicted: an ownership of the key was ended by force, or, with Waiting, a wait for it. Its
	// database is the oid of the key's.
	Evicted Event = "evicted"
)

// Announcement is the payload of a notification on Channel: JSON with these fields. It is about the session whose
// pid comes with the notification. It is a hint that makes others read pg_locks
// sooner. Every role of the database can read it, and forge it.
type Announcement struct {
	Database string `json:"database"`
	Key      string `json:"key"` // as Key.String writes it
	Event    Event  `json:"event"`
	PID      uint32 `json:"pid,omitempty"`     // of an Evicted: the process whose ownership or wait was ended; 0: not known
	Waiting  bool   `json:"waiting,omitempty"` // of an Evicted: it was a wait
	By       string `json:"data,omitempty"`    // of an Evicted: Options.Actor of its driver
}

// send sends the announcement. If that fails, others notice the change later.
func (a Announcement) send(ctx context.Context, conn *pgwire.Conn) {
	if text, err := json.Marshal(a); err == nil {
		_ = notify(ctx, conn, Channel, string(text)) // a broken connection is seen by its goroutine
	}
}

// ReadAnnouncement reads a notification; false: it is no announcement. Unknown fields are
// ignored.
func ReadAnnouncement(n *pgconn.Notification) (a Announcement, ok bool) {
	if n.Channel != Channel || json.Unmarshal([]byte(n.Payload), &a) != nil {
		return Announcement{}, false
	}
	return a, a.Key != "" && a.Event != ""
}
