package notify

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Event is a change of a cause.
type Event string

// The events, as they stand in JSON. More is of no single cause: it counts what was too much to be sent.
const (
	Found      Event = "found"
	Ended      Event = "ended"
	FoundAgain Event = "found_again"
	More       Event = "more"
)

// When something is told.
const (
	Steady       = 2 * time.Second // a change that lasts for less is none
	Hold         = 5 * time.Minute // a cause that is gone for so long has ended
	MostMessages = 10              // of a rule in a minute
)

const (
	mostCauses = 1000 // of a rule; more are not told
	mostKeys   = 500  // rows by which a cause is known again
)

// Message is one notification.
type Message struct {
	Event   Event
	ID      string // of the cause: the same in all its messages; "": More
	At      time.Time
	Title   string            // of the finding
	Now     *diagnose.Finding // nil: it has ended, or More
	Finding json.RawMessage   // the last one of this cause; nil: More
	Returns int               // how often it has returned

	Counts  map[Event]int // of More
	of      *cause        // nil: More
	payload []byte        // what Deliver gets
}

// Look has the findings of one instant.
type Look struct {
	Now      time.Time
	Findings []diagnose.Finding
	Muted    int // the number of the last Findings that are not reported; they keep a reported cause from ending
	// Known reports whether what is found about a row, or about a source (a Ref without a name), is certain now: its
	// source answers, and was listed.
	Known func(sources.Ref) bool
}

// Rule selects the findings that a Tracker reports, and encodes them.
type Rule struct {
	Matches func(*diagnose.Finding) bool
	Encode  func(*diagnose.Finding) json.RawMessage // the Finding for Message
}

// Tracker decides what to tell by one rule. It is not safe for concurrent use.
type Tracker struct {
	rule   Rule
	causes []*cause

	out   []Message     // of this Step
	sent  []time.Time   // the messages of the last minute
	more  map[Event]int // what was too much
	since time.Time     // when more began
}

// cause is one cause that was seen. Its exported fields are kept in the file.
type cause struct {
	ID      string          `json:"id"`
	Pattern string          `json:"pattern"`
	Keys    []sources.Ref   `json:"keys"` // its rows, or its source as a Ref without a name
	Title   string          `json:"title"`
	Finding json.RawMessage `json:"finding,omitempty"`
	Began   time.Time       `json:"began"`
	Gone    time.Time       `json:"gone,omitzero"`  // since when it is not found; zero: it is
	Again   time.Time       `json:"again,omitzero"` // the last FoundAgain
	Returns int             `json:"returns,omitempty"`
	Quiet   bool            `json:"quiet,omitempty"` // it was only counted

	told    bool        // it lasts: it was told or counted
	ended   bool        // that was told
	pending atomic.Bool // a message waits for the receiver
}

// key identifies a cause by one of its rows, or by its source.
type key struct {
	pattern string
	ref     sources.Ref
}

// NewTracker returns a Tracker that knows no causes.
func NewTracker(r Rule) *Tracker { return &Tracker{rule: r} }

// Step takes the next look and returns what to tell.
func (t *Tracker) Step(in *Look) []Message {
	t.out = nil
	t.forget(in.Now)
	index := map[key]*cause{}
	for _, c := range t.causes {
		if !c.ended {
			for _, ref := range c.Keys {
				index[key{c.Pattern, ref}] = cmp.Or(index[key{c.Pattern, ref}], c)
			}
		}
	}
	now, explained := map[*cause]*diagnose.Finding{}, map[sources.Ref]bool{}
	for i := range in.Findings {
		f := &in.Findings[i]
		if !t.rule.Matches(f) {
			continue
		}
		refs := refsOf(f)
		for _, ref := range refs {
			explained[ref] = true
		}
		if i >= len(in.Findings)-in.Muted {
			continue
		}
		if c := t.causeOf(f, refs, index, in.Now); c != nil {
			if now[c] == nil {
				now[c], c.Keys = f, nil
			}
			c.Keys = append(c.Keys, refs[:min(len(refs), mostKeys-len(c.Keys))]...)
		}
	}
	t.causes = slices.DeleteFunc(t.causes, func(c *cause) bool {
		if found := now[c]; found != nil {
			t.present(c, found, in.Now)
			return false
		}
		return t.absent(c, explained, in)
	})
	return t.out
}

// refsOf returns the rows of a Finding, or its source.
func refsOf(f *diagnose.Finding) []sources.Ref {
	refs := f.Refs()
	for i := range refs {
		refs[i].Name, _ = format.UTF8([]byte(refs[i].Name)) // the file is JSON
	}
	return refs
}

// causeOf returns the cause of a Finding, which may be new; nil: there are too many.
func (t *Tracker) causeOf(f *diagnose.Finding, refs []sources.Ref, index map[key]*cause, now time.Time) *cause {
	for _, ref := range refs {
		if c := index[key{f.Pattern.String(), ref}]; c != nil {
			return c
		}
	}
	if len(t.causes) >= mostCauses {
		return nil
	}
	c := &cause{ID: rand.Text()[:12], Pattern: f.Pattern.String(), Began: now}
	t.causes = append(t.causes, c)
	return c
}

// present notes that a cause is found.
func (t *Tracker) present(c *cause, found *diagnose.Finding, now time.Time) {
	gone := c.Gone
	c.Gone = time.Time{}
	switch {
	case !c.told && now.Sub(c.Began) >= Steady:
		c.told = true
		t.tell(c, Found, found, c.Began, now)
		return
	case gone.IsZero(), !c.told, now.Sub(gone) < Steady:
		return
	}
	c.Returns++
	if !c.Quiet && now.Sub(c.Again) >= Hold {
		c.Again = now
		t.tell(c, FoundAgain, found, now, now)
	}
}

// absent notes that a cause is not found, and reports whether it can be forgotten.
func (t *Tracker) absent(c *cause, explained map[sources.Ref]bool, in *Look) (over bool) {
	switch {
	case !c.told, c.ended:
		return !c.pending.Load()
	case slices.ContainsFunc(c.Keys, func(ref sources.Ref) bool { return !in.Known(ref) }):
	case !slices.ContainsFunc(c.Keys, func(ref sources.Ref) bool { return !explained[ref] }):
	case c.Gone.IsZero():
		c.Gone = in.Now
	case in.Now.Sub(c.Gone) < Hold:
	case c.Quiet:
		return true
	default:
		c.ended = true
		t.tell(c, Ended, nil, c.Gone, in.Now)
	}
	return false
}

// tell adds the message of an event, or counts it.
func (t *Tracker) tell(c *cause, e Event, f *diagnose.Finding, at, now time.Time) {
	if f != nil {
		c.Title = f.Title
	}
	if len(t.sent) >= MostMessages {
		if t.more == nil {
			t.more, t.since = map[Event]int{}, now
		}
		t.more[e]++
		c.Quiet = c.Quiet || e == Found
		return
	}
	t.sent = append(t.sent, now)
	c.pending.Store(true)
	if f != nil {
		c.Finding = t.rule.Encode(f)
	}
	t.out = append(t.out, Message{Event: e, ID: c.ID, At: at, Title: c.Title, Now: f, Finding: c.Finding, Returns: c.Returns, of: c})
}

// forget forgets the messages of more than a minute ago, and adds the message that counts what was too much in a minute.
func (t *Tracker) forget(now time.Time) {
	t.sent = slices.DeleteFunc(t.sent, func(at time.Time) bool { return now.Sub(at).Abs() >= time.Minute })
	if t.more != nil && now.Sub(t.since).Abs() >= time.Minute {
		t.out = append(t.out, Message{Event: More, At: now, Counts: t.more})
		t.more = nil
	}
}

// settled notes that a message was delivered, or given up.
func (m *Message) settled() {
	if m.of != nil {
		m.of.pending.Store(false)
	}
}
