package pgcoord

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/pgwire"
)

// Channel is where drivers announce what they do.
const Channel = "coordtop"

// Event is what an Announcement reports.
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

// Announcement is what a notification on Channel carries: JSON with these fields. The pid that
// comes with a notification says whose session it is about. It is a hint that makes others read
// sooner; pg_locks is the truth. Every role of the database can read it, and forge it.
type Announcement struct {
	Database string `json:"database"`
	Key      string `json:"key"` // as Key.String writes it
	Event    Event  `json:"event"`
	PID      uint32 `json:"pid,omitempty"`     // of an Evicted: the process whose ownership or wait was ended; 0: not known
	Waiting  bool   `json:"waiting,omitempty"` // of an Evicted: it was a wait
	By       string `json:"data,omitempty"`    // of an Evicted: who did it
}

// send is a courtesy: if it fails, others see later what happened.
func (a Announcement) send(ctx context.Context, conn *pgwire.Conn) {
	if text, err := json.Marshal(a); err == nil {
		_ = notify(ctx, conn, Channel, string(text)) // a broken connection is seen by its goroutine
	}
}

// ReadAnnouncement reads what arrived on a connection; false: it is no announcement. Fields that it
// does not know are passed over.
func ReadAnnouncement(n *pgconn.Notification) (a Announcement, ok bool) {
	if n.Channel != Channel || json.Unmarshal([]byte(n.Payload), &a) != nil {
		return Announcement{}, false
	}
	return a, a.Key != "" && a.Event != ""
}
