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
	// Evicted reports that an ownership of the key, or with Waiting a wait for it, was ended by force. Its database is
	// the oid of the database that has the key.
	Evicted Event = "evicted"
)

// Announcement is the payload of a notification on Channel: JSON with these fields. It is about the session whose pid
// comes with the notification. It only makes others read pg_locks sooner, because every role of the database can read
// and forge it.
type Announcement struct {
	Database string `json:"database"`
	Key      string `json:"key"` // the text of Key.String
	Event    Event  `json:"event"`
	PID      uint32 `json:"pid,omitempty"`     // for Evicted: the process whose ownership or wait was ended; 0: unknown
	Waiting  bool   `json:"waiting,omitempty"` // for Evicted: what was ended is a wait
	By       string `json:"data,omitempty"`    // for Evicted: Options.Actor of the sender
}

// send sends the announcement. If that fails, others notice the change later.
func (a Announcement) send(ctx context.Context, conn *pgwire.Conn) {
	if text, err := json.Marshal(a); err == nil {
		_ = notify(ctx, conn, Channel, string(text)) // the connection's goroutine notices if it breaks
	}
}

// ReadAnnouncement reads a notification. ok is false if it is no announcement. Unknown fields are ignored.
func ReadAnnouncement(n *pgconn.Notification) (a Announcement, ok bool) {
	if n.Channel != Channel || json.Unmarshal([]byte(n.Payload), &a) != nil {
		return Announcement{}, false
	}
	return a, a.Key != "" && a.Event != ""
}
