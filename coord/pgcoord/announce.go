package pgcoord

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Channel is where drivers announce what they do.
const Channel = "coordtop"

// Event is what an Announcement reports.
type Event string

// The events. Acquired, Proclaimed and Told carry the owner's whole data.
const (
	Acquired   Event = "acquired"
	Proclaimed Event = "proclaimed"
	Released   Event = "released"
	Ask        Event = "ask"  // the owner of the key shall send its data if that is more than its name shows
	Told       Event = "told" // the answer
	// Evicted: an ownership of the key was ended by force, or, with Waiting, a wait for it; the
	// data says by whom, and PID whose it was. Its database is the oid of the key's.
	Evicted Event = "evicted"
)

// Announcement is what notifications on Channel carry: JSON with the fields database, key
// (as Key.String writes it), event, data or data_b64, whichever is shorter, and pid and waiting
// where they are set. The pid
// that comes with a notification says whose session it is about. Data that does not fit
// into one notification comes in several, sent together, of which all but the last say
// "more":true; a Joiner puts them together. It is a hint that makes others read sooner;
// pg_locks is the truth. Every role of the database can read it, and forge it.
type Announcement struct {
	Database string `json:"database"`
	Key      string `json:"key"`
	Event    Event  `json:"event"`
	PID      uint32 `json:"pid,omitempty"`     // of an Evicted: the process whose ownership or wait was ended; 0: not known
	Waiting  bool   `json:"waiting,omitempty"` // of an Evicted: it was a wait
	Data     []byte `json:"-"`
}

// wireAnnouncement is the JSON.
type wireAnnouncement struct {
	Announcement
	Text   string `json:"data,omitempty"`
	Base64 []byte `json:"data_b64,omitempty"`
	More   bool   `json:"more,omitempty"`
}

const (
	// payloadLimit is what a notification carries (facts: 8000 is refused).
	payloadLimit = 7999
	// partLimit is how much data surely fits into one, whatever it is made of.
	partLimit = 5600
)

// Payloads writes the notifications, to be sent in one statement. It fails when the
// names leave no room.
func (a Announcement) Payloads() ([]string, error) {
	whole, err := a.part(a.Data, false)
	if err != nil {
		return nil, err
	}
	if len(whole) <= payloadLimit {
		return []string{whole}, nil
	}
	var payloads []string
	parts := slices.Collect(slices.Chunk(a.Data, partLimit))
	for i, data := range parts {
		text, err := a.part(data, i+1 < len(parts))
		if err != nil {
			return nil, err
		}
		if len(text) > payloadLimit {
			return nil, fmt.Errorf("writing an announcement: %d bytes do not fit into a notification", len(text))
		}
		payloads = append(payloads, text)
	}
	return payloads, nil
}

// part writes one notification, in the shorter of both ways.
func (a Announcement) part(data []byte, more bool) (string, error) {
	best, err := wireAnnouncement{Announcement: a, Base64: data, More: more}.encode()
	if err != nil || !utf8.Valid(data) {
		return best, err
	}
	text, err := wireAnnouncement{Announcement: a, Text: string(data), More: more}.encode()
	if err != nil || len(text) <= len(best) {
		return text, err
	}
	return best, nil
}

func (w wireAnnouncement) encode() (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // each escape takes six bytes of few
	if err := e.Encode(w); err != nil {
		return "", fmt.Errorf("writing an announcement: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// Joiner reads payloads and puts together what came in parts. It belongs to one
// connection, whose notifications it must be given in their order. The zero value is
// usable; it is not safe for concurrent use.
type Joiner struct {
	pid  uint32
	part *Announcement // what has come of an announcement that goes on; nil: none
}

// joinLimit bounds what strangers can make us keep.
const joinLimit = 64 << 10

// Join reads the payload that the session pid sent. ok is false while parts are missing.
// Fields that it does not know are passed over.
func (j *Joiner) Join(pid uint32, payload string) (a Announcement, ok bool, err error) {
	before := j.part
	j.part = nil // whatever comes next: parts are sent together
	a, more, err := parseAnnouncement(payload)
	if err != nil {
		return Announcement{}, false, err
	}
	if before != nil && j.pid == pid && before.Key == a.Key && before.Event == a.Event && before.Database == a.Database {
		a.Data = append(before.Data, a.Data...)
	}
	if !more {
		return a, true, nil
	}
	if len(a.Data) > joinLimit {
		return Announcement{}, false, errors.New("reading an announcement: it is too long")
	}
	first := a // a is what we return
	j.pid, j.part = pid, &first
	return Announcement{}, false, nil
}

func parseAnnouncement(payload string) (a Announcement, more bool, err error) {
	var w wireAnnouncement
	if err := json.Unmarshal([]byte(payload), &w); err != nil {
		return Announcement{}, false, fmt.Errorf("reading an announcement: %w", err)
	}
	if w.Key == "" || w.Event == "" {
		return Announcement{}, false, errors.New("reading an announcement: no key or no event")
	}
	if w.Data = w.Base64; len(w.Data) == 0 {
		w.Data = []byte(w.Text)
	}
	return w.Announcement, w.More, nil
}
