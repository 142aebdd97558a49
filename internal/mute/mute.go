package mute

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// The lengths of mutes: of an acknowledgement without an end of its own, of a mute without one, and the most of both.
const (
	KnownFor = 24 * time.Hour
	MutedFor = time.Hour
	Longest  = 30 * 24 * time.Hour
)

// Mute is a person's order to report no problem of some rows for a time.
type Mute struct {
	ID      string            `json:"id"`
	By      string            `json:"by"` // user@host
	At      time.Time         `json:"at"`
	Until   time.Time         `json:"until"`
	Text    string            `json:"text,omitempty"`   // a word of the person; "": none
	Filter  string            `json:"filter,omitempty"` // of rows; "": it is an acknowledgement of what Pins name
	What    string            `json:"what,omitempty"`   // of an acknowledgement, for people: a name, or the title of a finding
	Of      sources.Ref       `json:"of,omitzero"`      // of an acknowledgement, for the audit: its row, or its source
	Servers map[string]string `json:"servers"`          // addresses by source: it holds for rows of these alone
	Pins    map[string]Pin    `json:"pins,omitempty"`   // by a key of the row or source
}

// stepped is the least time by which a clock that shows less than the beginning of a Mute shows the past, and was not
// only set back a little.
const stepped = time.Minute

// Live reports whether a Mute has begun and has not ended.
func (m *Mute) Live(now time.Time) bool {
	return now.After(m.At.Add(-stepped)) && now.Before(m.Until)
}

// Subject names the object of a Mute for people: its filter, or the acknowledged problem.
func (m *Mute) Subject() string {
	if m.Filter != "" {
		return m.Filter
	}
	return m.What
}

// maxText is the most cells of a text of a person.
const maxText = 200

// Reason says until when something is muted, by whom and why. A time of another day than now has its date.
func (m *Mute) Reason(now time.Time) string {
	until, form := m.Until.In(now.Location()), "15:04"
	if until.Format(time.DateOnly) != now.Format(time.DateOnly) {
		form = "2006-01-02 15:04"
	}
	text := "until " + until.Format(form) + " by " + format.Clean(m.By, maxText)
	if m.Text != "" {
		text += ": " + format.Clean(m.Text, maxText)
	}
	return text
}

// ServersOf returns the Servers of a Mute that is made about a State.
func ServersOf(st *sources.State) map[string]string {
	servers := map[string]string{}
	for i := range st.Sources {
		servers[st.Sources[i].Name] = st.Sources[i].Address
	}
	return servers
}

// isFor reports whether a source of a State is one that the Mute was made about.
func (m *Mute) isFor(st *sources.State, source string) bool {
	return slices.ContainsFunc(st.Sources, func(s sources.SourceStatus) bool {
		address, known := m.Servers[source]
		return s.Name == source && known && s.Address == address
	})
}

// Pin is a problem as it was when it was muted: of a row, or of a whole source.
type Pin struct {
	Fault   string    `json:"fault"`
	Pattern string    `json:"pattern,omitempty"` // of its finding; "": it was not explained
	Bad     bool      `json:"needs_a_person,omitempty"`
	Since   time.Time `json:"since,omitzero"` // of the problem; zero: not known
}

// keyOf returns the key of the Pins of a row; of a source if the Ref has no name. Bytes that are no text are escaped.
func keyOf(ref sources.Ref) string {
	return strconv.Quote(ref.Source) + strconv.Quote(ref.Space) + strconv.Quote(ref.Name)
}

// PinsOf returns the Pins of what a finding explains at now.
func PinsOf(j *verdict.Judge, f *diagnose.Finding, now time.Time) map[string]Pin {
	if len(f.Rows) == 0 {
		return map[string]Pin{keyOf(sources.Ref{Source: f.Source}): sourcePin(f)}
	}
	pins := map[string]Pin{}
	for _, r := range f.Rows {
		maps.Copy(pins, RowPins(j, r.Row, f, now))
	}
	return pins
}

// RowPins returns the Pin of a row's gravest problem at now, which f explains; nil: no finding does.
func RowPins(j *verdict.Judge, row *sources.Row, f *diagnose.Finding, now time.Time) map[string]Pin {
	pattern := ""
	if f != nil {
		pattern = f.Pattern.String()
	}
	p, _ := pinOf(j, row, pattern, now)
	return map[string]Pin{keyOf(row.Ref): p}
}

func sourcePin(f *diagnose.Finding) Pin {
	return Pin{Fault: verdict.Stale.String(), Pattern: f.Pattern.String(), Bad: f.Severity == verdict.Bad, Since: began(f.Since)}
}

// pinOf returns the Pin of a row's gravest problem at now, if its Verdict is one. While one owner is waited for, a wait is
// the same problem, whoever is first in the queue: a program that gives up and asks again makes no other one.
func pinOf(j *verdict.Judge, row *sources.Row, pattern string, now time.Time) (p Pin, v verdict.Verdict) {
	v, _ = j.Weigh(row, now)
	p = Pin{Fault: v.Lead.String(), Pattern: pattern, Bad: v.Known == verdict.Bad}
	if v.Lead == verdict.LongWait && len(row.Owners) == 1 {
		p.Since = began(row.Owners[0].Since)
		return p, v
	}
	for _, problem := range j.Problems(row, now) {
		if problem.Fault == v.Lead {
			p.Since = began(problem.Since)
		}
	}
	return p, v
}

// began returns the first instant at which something may have begun; zero: it may have been at any time before.
func began(since sources.Stamp) time.Time {
	switch since.How {
	case sources.Unknown, sources.AtLeast, sources.Bound:
		return time.Time{}
	}
	return since.Earliest()
}

// covers reports whether a problem is still the one that was pinned by a Mute. What was acknowledged must also have
// begun by then.
func (p Pin) covers(is Pin, m *Mute) bool {
	if is.Fault != p.Fault || is.Bad && !p.Bad {
		return false
	}
	if is.Pattern != "" && p.Pattern != "" && is.Pattern != p.Pattern {
		return false
	}
	return m.Filter != "" || is.Since.IsZero() || !is.Since.After(sources.Later(m.At, p.Since))
}
