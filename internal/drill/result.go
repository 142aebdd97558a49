package drill

import (
	"fmt"
	"io"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// Result is a drill, or what there was of it until it ended.
type Result struct {
	Ref        sources.Ref
	Kind       sources.Kind
	How        Way
	Candidates int // of ours; 0: the leaders were somebody else's
	TTL        time.Duration
	Wanted     int // rounds
	Began      time.Time
	Over       time.Time
	Rounds     []Round
}

// Figure is one length in all rounds of a Result.
type Figure struct {
	Key, Text string // for JSON, and for people
	Count     int    // of rounds in which it is known
	// Each true percentile lies between the percentile of the lower bounds and that of the upper bounds.
	P50, P95, Longest lane.Interval
}

// Figures returns the lengths in the order of a table, those first that people ask for.
func (r *Result) Figures() []Figure {
	var order []Part
	lengths := map[string][]lane.Interval{}
	for i := range r.Rounds {
		for _, p := range r.Rounds[i].Lengths() {
			if len(lengths[p.Key]) == 0 {
				order = append(order, p)
			}
			lengths[p.Key] = append(lengths[p.Key], p.Length)
		}
	}
	figures := make([]Figure, len(order))
	for i, p := range order {
		list := lengths[p.Key]
		figures[i] = Figure{p.Key, p.Text, len(list), lane.Percentile(list, 50), lane.Percentile(list, 95), lane.Percentile(list, 100)}
	}
	return figures
}

// barWide is the width of the longest bar.
const barWide = 60

// Write writes the figures and a bar for each round.
func (r *Result) Write(out io.Writer) error {
	var b strings.Builder
	who := fmt.Sprintf("%d candidates of our own", r.Candidates)
	if r.Candidates == 0 {
		who = "leaders of somebody else"
	}
	fmt.Fprintf(&b, "\n%d of %d rounds, each leader %s; %s, TTL %s\n\n", len(r.Rounds), r.Wanted, r.How.did(), who, format.Precise(r.TTL))
	table := [][]string{{"", "P50", "P95", "LONGEST"}}
	var looks time.Duration
	for _, f := range r.Figures() {
		looks = max(looks, f.Longest.Every)
		table = append(table, []string{f.Text, f.P50.Bounds(), f.P95.Bounds(), f.Longest.Bounds()})
	}
	var wide [4]int
	for _, line := range table {
		for i, cell := range line {
			wide[i] = max(wide[i], format.Width(cell))
		}
	}
	for _, line := range table {
		text := ""
		for i, cell := range line {
			text += cell + strings.Repeat(" ", wide[i]-format.Width(cell)+2)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	if looks > 0 {
		fmt.Fprintf(&b, "\nOur watch looked every %s: what came and went between two looks is in none of its numbers.\n", format.Precise(looks))
	}
	b.WriteString("\n" + r.bars())
	_, err := io.WriteString(out, b.String())
	return err
}

// bars draws a bar for each round.
func (r *Result) bars() string {
	var longest time.Duration
	for i := range r.Rounds {
		longest = max(longest, r.Rounds[i].whole())
	}
	if longest == 0 {
		return ""
	}
	var b strings.Builder
	for i := range r.Rounds {
		x := &r.Rounds[i]
		fmt.Fprintf(&b, "%3d %-*s %s\n", x.N, barWide, x.bar((longest+barWide-1)/barWide), format.Precise(x.whole()))
	}
	return b.String() + "    = the server kept the old leader   . nobody owned it   + the next one did not know   ? not known which\n"
}
