package diagnose

import (
	"fmt"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// Finding is one cause of problems.
type Finding struct {
	Pattern  Pattern
	Severity verdict.Severity // the gravest of its rows and of its source
	Title    string           // "10 elections have no leader"
	Since    sources.Stamp    // of the first problem; How Unknown: not known
	Source   string           // "": rows of several sources
	Reasons  []Reason         // at least one
	Effect   string           // what it means for others; "": nothing is known
	Steps    []Step           // what to do next, the first one first
	Runbook  string           // http or https URL from the config; "": it has none for the pattern
	Rows     []Row            // whose problems it explains, the gravest first; none: it is about a source
	Hidden   int              // stale rows of an outage that had a problem when they were last known
	Who      []string         // hosts, programs or labels that the finding is about, for the Owners screen
}

// Row is a row of a Finding.
type Row struct {
	*sources.Row
	verdict.Problem        // the gravest
	Short           string // of the problem and its cause: "no leader, was A host-22"
}

// Sure grades the evidence for a Reason.
type Sure uint8

// The ways to know a reason.
const (
	Told     Sure = iota // by the server, or seen
	Inferred             // it follows from what was told or seen
	Possible             // it is one of several that fit; none is preferred
)

// String returns "told", "inferred" or "possible".
func (s Sure) String() string { return [...]string{"told", "inferred", "possible"}[s] }

// Reason is a sentence about the cause, without a full stop.
type Reason struct {
	Text string
	Sure Sure
}

// Place is where on the board a Step leads: the key for it, as it is unless the config changes it.
type Place string

// The places. AtRow is the row itself with its detail. A test of ui compares the keys.
const (
	AtRow      Place = "enter"
	AtActions  Place = "a"
	AtOwner    Place = "4"
	AtTimeline Place = "3"
	AtEvents   Place = "5"
	AtSources  Place = "o"
)

// Step is something to look at or do next.
type Step struct {
	Text    string // an order, without a full stop: "look at host-22 and its network"
	Place   Place  // on the board
	Command string // a command line; "": there is none
}

// line returns the step and its command in one line.
func (s *Step) line() string { return joined(": ", s.Text, s.Command) }

// Refs returns the rows of a Finding, or its source as a Ref without a name.
func (f *Finding) Refs() []sources.Ref {
	if len(f.Rows) == 0 {
		return []sources.Ref{{Source: f.Source}}
	}
	refs := make([]sources.Ref, len(f.Rows))
	for i := range f.Rows {
		refs[i] = f.Rows[i].Ref
	}
	return refs
}

// Cause returns the reasons in one line: those that are told or inferred, then all that are possible.
func (f *Finding) Cause() string {
	known, possible := f.reasons()
	if len(possible) > 0 {
		known = append(known, "possible: "+format.Series(possible, ", or "))
	}
	return strings.Join(known, "; ")
}

// Brief returns what is told or inferred of the cause, and the effect, for a line in which not all of it has room:
// of what is possible all is named, or nothing.
func (f *Finding) Brief() string {
	known, _ := f.reasons()
	return joined("; ", append(known, f.Effect)...)
}

// reasons returns the reasons that are told or inferred, and those that are only possible.
func (f *Finding) reasons() (known, possible []string) {
	for _, r := range f.Reasons {
		switch r.Sure {
		case Told:
			known = append(known, r.Text)
		case Inferred:
			known = append(known, r.Text+" (inferred)")
		case Possible:
			possible = append(possible, r.Text)
		}
	}
	return known, possible
}

// Next returns the first step in one line, and its command; "": there is none.
func (f *Finding) Next() string {
	if len(f.Steps) == 0 {
		return ""
	}
	return f.Steps[0].line()
}

// textRows is the most rows of a Finding that its Text names.
const textRows = 10

// Text writes a Finding for people, in lines that fit no width.
func (f *Finding) Text(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s%s\n", [...]string{"!", "-"}[min(f.Severity, verdict.Warn)], f.Title, sinceText(f.Since, now))
	say := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "    %-8s %s\n", what, text)
		}
	}
	say("why", f.Cause())
	say("meaning", f.Effect)
	for i, step := range f.Steps {
		say([...]string{"next", ""}[min(i, 1)], step.line())
	}
	say("runbook", f.Runbook)
	if len(f.Rows) > 1 {
		var names []string
		for _, r := range f.Rows[:min(len(f.Rows), textRows)] {
			name := label(r.FullName())
			if r.Alias != "" {
				name += " (" + label(r.Alias) + ")"
			}
			names = append(names, name)
		}
		say("rows", format.SomeOf(names, textRows, len(f.Rows)))
	}
	return b.String()
}

func sinceText(s sources.Stamp, now time.Time) string {
	if s.How == sources.Unknown {
		return ""
	}
	at := s.At.In(now.Location()).Format(time.DateTime)
	if s.How == sources.AtLeast {
		return ", since before " + at
	}
	return ", since " + at + " (" + format.Age(now.Sub(s.At)) + ")"
}
