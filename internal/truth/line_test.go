package truth

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
)

// line is what these tests read of a line of "watch -o json".
type line struct {
	Seq      uint64
	At       time.Time
	After    *time.Time
	Event    string
	Source   *string
	Name     *string
	Owner    *ownerRef
	Previous *ownerRef
	Last     *ownerRef
	Cause    *string
	Known    string
	Gap      *length `json:"gap_ms"`
	Held     *length `json:"held_ms"`
	Detail   *string

	text string
}

// length is a printed length of time, in ms.
type length struct {
	Min   int64
	Max   *int64 // nil: it has no upper bound
	How   string // "sampled": the bounds rest on looks, Every apart at most
	Every int64  `json:"every_ms"`
}

func (l *length) least() time.Duration { return time.Duration(l.Min) * time.Millisecond }

func (l *length) most() time.Duration {
	if l.Max == nil {
		return math.MaxInt64 / 2 // it can be added to
	}
	return time.Duration(*l.Max) * time.Millisecond
}

type ownerRef struct {
	ID, Label string
	Fence     *string
}

// key is the id up to an @: the number of a session, or all of a name. The part
// behind it tells apart sessions of different servers.
func (o *ownerRef) key() string {
	key, _, _ := strings.Cut(o.ID, "@")
	return key
}

func parseLine(text []byte) (line, error) {
	l := line{text: string(text)}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("reading the line %s: %w", text, err)
	}
	return l, nil
}

// row is the name of the row; "": the line is of a whole source.
func (l *line) row() string {
	if l.Name == nil {
		return ""
	}
	return *l.Name
}

// claim is one change that a line says has happened.
type claim struct {
	line *line
	who  ownerRef
	what deed
}

// claims are what a line says, in the order in which it is to be applied.
func (l *line) claims() []claim {
	var list []claim
	say := func(who *ownerRef, what deed) {
		if who != nil {
			list = append(list, claim{l, *who, what})
		}
	}
	switch l.Event {
	case "released", "expired":
		say(l.Previous, ends)
	case "owner_changed":
		say(l.Previous, ends)
		say(l.Owner, begins)
	case "acquired":
		say(l.Owner, begins)
	case "renewed":
		say(l.Owner, renews)
	case "proclaimed":
		list = append(list, claim{line: l, what: proclaims})
	case "waiter_joined":
		say(l.Owner, joins)
	case "waiter_left":
		say(l.Owner, leaves)
	}
	return list
}

// prompt is how far an instant that is told (after null) may be from the truth: the program
// promises it, because it reads who owns the row after it was told that something changed.
const prompt = 25 * time.Millisecond

// within reports whether what happened in (from, to] may have happened when the line says.
// slack is how much later than prompt an instant may be told on this machine.
func (l *line) within(from, to time.Time, slack time.Duration) bool {
	const printed = time.Microsecond // times are cut to that
	after, at := l.At.Add(-prompt-slack), l.At.Add(printed)
	switch {
	case l.After != nil:
		after = *l.After
	case l.Known == "at_least":
		after = time.Time{}
	default:
		at = at.Add(prompt)
	}
	return !to.Before(after) && from.Before(at)
}

// dark is a stretch in which the program reports that it saw nothing.
type dark struct{ from, to time.Time }

// darkness reads the stretches from the lines of the sources.
func darkness(lines []line) []dark {
	var list []dark
	down := false
	for i := range lines {
		switch l := &lines[i]; {
		case l.Event == "source_down" && !down:
			from := l.At
			if l.After != nil {
				from = *l.After
			}
			list, down = append(list, dark{from: from, to: l.At}), true
		case l.Event == "synced" && down:
			list[len(list)-1].to, down = l.At, false
		}
	}
	return list
}

// listing is how long a source may take to read all its rows anew.
const listing = 2 * time.Second

// listings reads when the program had read all rows anew without calling the source down:
// the connection was lost and made at once, and anything may have happened meanwhile.
func listings(lines []line) []time.Time {
	var list []time.Time
	for i := range lines {
		if lines[i].Event == "synced" {
			list = append(list, lines[i].At)
		}
	}
	return list
}
