package mute

import (
	"fmt"
	"strconv"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// The lengths of mutes: of an acknowledgement without an end of its own, of a mute without one, and the most of both.
const (
	KnownFor = 24 * time.Hour
	MutedFor = time.Hour
	Longest  = 30 * 24 * time.Hour
)

// Mute is what a person does not want to be told of for a time.
type Mute struct {
	ID      string            `json:"id"`
	By      string            `json:"by"` // user@host
	At      time.Time         `json:"at"`
	Until   time.Time         `json:"until"`
	Text    string            `json:"text,omitempty"`   // a word of the person; "": none
	Filter  string            `json:"filter,omitempty"` // of rows; "": it is an acknowledgement of what Pins name
	What    string            `json:"what,omitempty"`   // of an acknowledgement, for people: a name, or the title of a finding
	Servers map[string]string `json:"servers"`          // addresses by source: it holds for rows of these alone
	Pins    []Pin             `json:"pins,omitempty"`
}

// Live reports whether a Mute has begun and has not ended.
func (m *Mute) Live(now time.Time) bool { return !now.Before(m.At) && now.Before(m.Until) }

// Subject is what a Mute is about, for people: what was acknowledged, or the filter.
func (m *Mute) Subject() string {
	if m.Filter != "" {
		return m.Filter
	}
	return m.What
}

// ServersOf returns the Servers of a Mute that is made about a State.
func ServersOf(st *sources.State) map[string]string {
	servers := map[string]string{}
	for i := range st.Sources {
		servers[st.Sources[i].Name] = st.Sources[i].Address
	}
	return servers
}

// Pin is a problem as it was when it was muted: of a row, or with an empty name of a whole source.
type Pin struct {
	Source  Bytes     `json:"source"`
	Space   Bytes     `json:"namespace,omitempty"`
	Name    Bytes     `json:"name,omitempty"`
	Fault   string    `json:"fault"`
	Pattern string    `json:"pattern,omitempty"` // of its finding; "": it was not explained
	Bad     bool      `json:"needs_a_person,omitempty"`
	Since   time.Time `json:"since,omitzero"` // of the problem; zero: not known
}

// Bytes is text of others: bytes that are not UTF-8 survive in JSON.
type Bytes string

// MarshalText writes what is no plain text as escapes.
func (b Bytes) MarshalText() ([]byte, error) {
	quoted := strconv.Quote(string(b))
	return []byte(quoted[1 : len(quoted)-1]), nil
}

// UnmarshalText reads what MarshalText writes.
func (b *Bytes) UnmarshalText(text []byte) error {
	s, err := strconv.Unquote(`"` + string(text) + `"`)
	if err != nil {
		return fmt.Errorf("reading a name: %w", err)
	}
	*b = Bytes(s)
	return nil
}

// Ref returns the row that a Pin is of; without a name it is of a source.
func (p *Pin) Ref() sources.Ref {
	return sources.Ref{Source: string(p.Source), Space: string(p.Space), Name: string(p.Name)}
}

func pin(ref sources.Ref, fault verdict.Fault, sev verdict.Severity, since sources.Stamp) Pin {
	return Pin{Source: Bytes(ref.Source), Space: Bytes(ref.Space), Name: Bytes(ref.Name), Fault: fault.String(), Bad: sev == verdict.Bad, Since: began(since)}
}

// pinOf is pin of a problem of a row. While one owner is waited for, a wait is the same problem, whoever is first in the
// queue: a program that gives up and asks again makes no other one of it.
func pinOf(row *sources.Row, problem *verdict.Problem) Pin {
	p := pin(row.Ref, problem.Fault, problem.Severity, problem.Since)
	if problem.Fault == verdict.LongWait && len(row.Owners) == 1 {
		p.Since = sources.Earlier(p.Since, began(row.Owners[0].Since))
	}
	return p
}

// began returns the first instant at which something may have begun; zero: it may have been at any time before.
func began(since sources.Stamp) time.Time {
	switch since.How {
	case sources.Unknown, sources.AtLeast, sources.Bound:
		return time.Time{}
	}
	return since.Earliest()
}

// PinsOf returns the Pins of what a finding explains.
func PinsOf(f *diagnose.Finding) (pins []Pin) {
	if len(f.Rows) == 0 {
		p := pin(sources.Ref{Source: f.Source}, verdict.Stale, f.Severity, f.Since)
		p.Pattern = f.Pattern.String()
		return []Pin{p}
	}
	for i := range f.Rows {
		pins = append(pins, PinOf(f, &f.Rows[i]))
	}
	return pins
}

// PinOf returns the Pin of a row of a finding.
func PinOf(f *diagnose.Finding, r *diagnose.Row) Pin {
	p := pinOf(r.Row, &r.Problem)
	p.Pattern = f.Pattern.String()
	return p
}

// RowPin returns the Pin of a row's gravest problem at now, where no finding explains it; ok is false if it has none.
func RowPin(j *verdict.Judge, row *sources.Row, now time.Time) (p Pin, ok bool) {
	v, _ := j.Weigh(row, now)
	if !v.Problem() {
		return Pin{}, false
	}
	p = pin(row.Ref, v.Lead, v.Known, sources.Stamp{})
	for _, problem := range j.Problems(row, now) {
		if problem.Fault == v.Lead {
			p = pinOf(row, &problem)
			p.Bad = v.Known == verdict.Bad
		}
	}
	return p, true
}

// covers reports whether a problem is still the one that was pinned. once: it must also have begun by then.
func (p *Pin) covers(is *Pin, at time.Time, once bool) bool {
	switch {
	case is.Fault != p.Fault, is.Bad && !p.Bad:
		return false
	case is.Pattern != "" && p.Pattern != "" && is.Pattern != p.Pattern:
		return false
	}
	return !once || is.Since.IsZero() || !is.Since.After(sources.Later(at, p.Since))
}
