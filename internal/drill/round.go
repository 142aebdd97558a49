package drill

import (
	"fmt"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// Round is one end of a leader and what followed.
type Round struct {
	N            int // from 1
	Leader, Next sources.OwnerRef
	Acted        lane.Stamp // when the leader was ended
	Over         lane.Stamp // when it was dead, or knew that its trust had ended; zero: not ours
	Won          time.Time  // when the next one knew that it leads; zero: not ours
	Ended, Began lane.Stamp // end of the old ownership and begin of the next one, as our watch saw it
	Every        time.Duration
	Watched      lane.Interval // nobody owned it, as our watch saw it
}

// Part is one length of a round.
type Part struct {
	Key, Text string // for JSON, and for people
	Length    lane.Interval
}

// Lengths returns the lengths of a round that are known, those first that people ask for: how long none of our
// candidates led, from Over to Won, and how long two did; then what the time from Acted to Won is made of.
func (r *Round) Lengths() (list []Part) {
	known, won := !r.Won.IsZero(), lane.Stamp{At: r.Won, How: lane.Ours}
	ended, began := r.changes()
	if known {
		list = append(list, Part{"own", "no leader", lane.Length(r.Over, time.Time{}, won, 0)})
	}
	if known && r.Over.Earliest().After(r.Won) {
		list = append(list, Part{"both", "two leaders", lane.Length(won, time.Time{}, r.Over, 0)})
	}
	list = append(list, Part{"kept", "the server kept the old leader", lane.Length(r.Acted, time.Time{}, ended, r.Every)},
		Part{"nobody", "nobody owned it on our watch", r.Watched})
	if known {
		list = append(list, Part{"answer", "the next one did not know", lane.Length(began, time.Time{}, won, r.Every)})
	}
	return list
}

// changes returns Ended and Began, not before the leader was ended and not after the next one knew: the server had
// granted before.
func (r *Round) changes() (ended, began lane.Stamp) {
	between := func(s lane.Stamp) lane.Stamp {
		from, to := lane.Later(s.Earliest(), r.Acted.Earliest()), s.At
		if !r.Won.IsZero() {
			to = lane.Earlier(to, r.Won)
		}
		return lane.StampBetween(lane.Earlier(from, to), to, s.How)
	}
	return between(r.Ended), between(r.Began)
}

// did returns what happened to a leader, for people.
func (w Way) did() string {
	return map[Way]string{Kill: "killed", Stop: "frozen", Cut: "cut off", Resign: "resigned", Release: "released by force"}[w]
}

// Text returns one line for people. of is the number of rounds.
func (r *Round) Text(how Way, of int) string {
	var lengths []string
	for _, p := range r.Lengths() {
		lengths = append(lengths, p.Text+" for "+p.Length.Bounds())
	}
	return fmt.Sprintf("round %d of %d: %s %s, then %s: %s", r.N, of, format.Label(r.Leader.Name(), 60), how.did(), format.Label(r.Next.Name(), 60), strings.Join(lengths, ", "))
}

// bar returns the bar of a round, a cell for each unit: = while the server kept the old leader, . while nobody owned it,
// + from the next owner's begin until that knew it, ? where our watch does not tell which.
func (r *Round) bar(unit time.Duration) string {
	var b strings.Builder
	ended, began := r.changes()
	for _, piece := range []struct {
		until time.Time
		cell  string
	}{{ended.Earliest(), "="}, {ended.At, "?"}, {began.Earliest(), "."}, {began.At, "?"}, {r.Won, "+"}} {
		cells := int((piece.until.Sub(r.Acted.Earliest()) + unit - 1) / unit)
		b.WriteString(strings.Repeat(piece.cell, max(0, cells-b.Len())))
	}
	return b.String()
}

// whole returns the time from the end of the leader to the last instant of the bar.
func (r *Round) whole() time.Duration {
	_, began := r.changes()
	return max(0, sources.Later(r.Won, began.At).Sub(r.Acted.Earliest()))
}
