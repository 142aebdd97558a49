package pgcoord

import (
	"encoding/base64"
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
	Database string
	Key      string
	Event    Event
	Data     []byte
	PID      uint32 // of an Evicted: the process whose ownership or wait was ended; 0: not known
	Waiting  bool   // of an Evicted: it was a wait
}

// wireAnnouncement is the JSON.
type wireAnnouncement struct {
	Database string `json:"database"`
	Key      string `json:"key"`
	Event    Event  `json:"event"`
	Data     string `json:"data,omitempty"`
	Base64   string `json:"data_b64,omitempty"`
	More     bool   `json:"more,omitempty"`
	PID      uint32 `json:"pid,omitempty"`
	Waiting  bool   `json:"waiting,omitempty"`
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

// part writes one notification.
func (a Announcement) part(data []byte, more bool) (string, error) {
	w := wireAnnouncement{Database: a.Database, Key: a.Key, Event: a.Event, More: more, PID: a.PID, Waiting: a.Waiting}
	packed := w
	packed.Base64 = base64.StdEncoding.EncodeToString(data)
	best, err := encode(packed)
	if err != nil || !utf8.Valid(data) {
		return best, err
	}
	w.Data = string(data)
	text, err := encode(w)
	if err != nil || len(text) <= len(best) {
		return text, err
	}
	return best, nil
}

func encode(w wireAnnouncement) (string, error) {
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
	a = Announcement{Database: w.Database, Key: w.Key, Event: w.Event, Data: []byte(w.Data), PID: w.PID, Waiting: w.Waiting}
	if w.Base64 != "" {
		if a.Data, err = base64.StdEncoding.DecodeString(w.Base64); err != nil {
			return Announcement{}, false, fmt.Errorf("reading an announcement: %w", err)
		}
	}
	return a, w.More, nil
}
