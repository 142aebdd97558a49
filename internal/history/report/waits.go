package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/trouble"
)

// Of how many waits a report tells, and of which.
const (
	mostWaits = 20
	shortWait = time.Second // a shorter one is none of them
)

// waitTable is a line for each of the longest waits.
func (r *Report) waitTable(b *strings.Builder) {
	b.WriteString("\n## Longest waits\n\n")
	if len(r.waits) == 0 {
		b.WriteString("Nobody was seen to wait for a second. Not every server tells who waits.\n")
		return
	}
	b.WriteString("| from | to | waited | primitive | who | under | end |\n|---|---|--:|---|---|---|---|\n")
	for i := range r.waits {
		w := &r.waits[i]
		under := ""
		if at := slices.IndexFunc(r.lanes, func(l history.Lane) bool { return l.Ref == w.Refs[0] }); at >= 0 {
			under = ownersOf(trouble.Under(&r.lanes[at], w))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.at(w.From), r.at(w.To), w.Length.Short(), r.called(w.Refs[0]), cell(w.Who.Name()), under, w.Detail)
	}
}
