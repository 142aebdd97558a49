package headless

import (
	"bytes"
	"encoding/json"
	"strings"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/internal/notify"
)

// notifiedRows is the most rows of a finding in a notification.
const notifiedRows = 20

// FindingJSON returns a Finding as Why prints it, with its first rows.
func FindingJSON(f *diagnose.Finding) json.RawMessage {
	cut := *f
	cut.Rows = f.Rows[:min(len(f.Rows), notifiedRows)]
	j := findingOf(&cut, nil, nil)
	j.RowsLeftOut = len(f.Rows) - len(cut.Rows)
	return bytes.TrimSpace(lineOf(j))
}

type noticeJSON struct {
	V           int                  `json:"v"`
	At          *string              `json:"at"`
	Event       notify.Event         `json:"event"`
	ID          *string              `json:"id"`
	Environment *string              `json:"environment"`
	Text        string               `json:"text"`
	Finding     json.RawMessage      `json:"finding"`
	Returns     int                  `json:"returns"`
	Counts      map[notify.Event]int `json:"counts"`
}

// counted are the events that are counted if there are too many, in the order of a sentence.
var counted = [...]notify.Event{notify.Found, notify.FoundAgain, notify.Ended}

// Notification returns what a receiver gets: one line of JSON. environment is the title of the config; "": it has none.
func Notification(m *notify.Message, environment string) []byte {
	j := noticeJSON{
		V: version, At: instant(m.At), Event: m.Event, ID: orNull(m.ID), Environment: orNull(environment),
		Text: text(noticeText(m, environment)), Finding: m.Finding, Returns: m.Returns,
	}
	if m.Event == notify.More {
		j.Counts = map[notify.Event]int{}
		for _, e := range counted {
			j.Counts[e] = m.Counts[e]
		}
	}
	return lineOf(j)
}

// lineOf returns v as one line of JSON.
func lineOf(v any) []byte {
	var buf bytes.Buffer
	_ = encode(&buf, v) // it has nothing that JSON cannot write
	return buf.Bytes()
}

// noticeText writes a message for people.
func noticeText(m *notify.Message, environment string) string {
	about := ""
	if environment != "" {
		about = environment + ": "
	}
	switch m.Event {
	case notify.More:
		var counts []string
		for _, e := range counted {
			if n := m.Counts[e]; n > 0 {
				counts = append(counts, format.Count(n)+" "+strings.ReplaceAll(string(e), "_", " "))
			}
		}
		return about + "too many to be sent one by one: " + strings.Join(counts, ", ")
	case notify.Ended:
		return about + "ended: " + m.Title
	case notify.FoundAgain:
		about += "again: "
	}
	about += m.Title
	if cause := m.Now.Cause(); cause != "" {
		about += ". Why: " + cause
	}
	if next := m.Now.Next(); next != "" {
		about += ". Next: " + next
	}
	return about
}
