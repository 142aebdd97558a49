package headless

import (
	"strings"

	"coordtop/internal/history"
	"coordtop/sources"
)

type pastJSON struct {
	V    int    `json:"v"`
	What string `json:"what"`
	Why  string `json:"why,omitempty"`
	refJSON
	Alias       *aliasJSON    `json:"alias"`
	Owner       *ownerRefJSON `json:"owner"`
	Start       *string       `json:"start"`
	StartKnown  *string       `json:"start_known"`
	StartAfter  *string       `json:"start_after"`
	End         *string       `json:"end"`
	EndKnown    *string       `json:"end_known"`
	EndAfter    *string       `json:"end_after"`
	LengthMS    *lengthJSON   `json:"length_ms"`
	SumMS       *intervalJSON `json:"sum_ms,omitempty"`
	Cause       *string       `json:"cause"`
	CauseKnown  *string       `json:"cause_known"`
	GapBeforeMS *intervalJSON `json:"gap_before_ms"`
}

// json returns the line as JSON.
func (p *past) json(alias history.Alias) pastJSON {
	out := pastJSON{V: version, What: "unobserved", refJSON: refOf(p.lane.Ref, p.lane.Kind), Alias: aliasOf(alias.Text, alias.How), GapBeforeMS: intervalOf(p.gap.Unbroken)}
	span := func(start, end sources.Stamp) {
		out.Start, out.StartAfter = stamp(start)
		out.End, out.EndAfter = stamp(end)
		out.StartKnown, out.EndKnown = orNull(start.How.String()), orNull(end.How.String())
	}
	switch {
	case p.term >= 0:
		t := &p.lane.Terms[p.term]
		out.What, out.Owner, out.LengthMS = "term", ownerRefOf(t.Owner), lengthOf(p.held)
		span(t.Start, t.End)
		if endSeen(t) {
			out.Cause, out.CauseKnown = orNull(t.Cause.String()), orNull(t.How.String())
		}
		if p.by != "" {
			out.Cause, out.CauseKnown = orNull(sources.CauseEvicted.String()), orNull(sources.Ours.String())
		}
	case out.GapBeforeMS != nil:
		out.What, out.LengthMS, out.GapBeforeMS = "gap", lengthOf(p.gap.Unbroken), nil
		out.SumMS = intervalOf(p.gap.Sum)
		span(p.gap.Start, p.gap.End)
	default:
		out.Why = strings.ReplaceAll(p.dark.Why.String(), " ", "_")
		out.Start, out.End = instant(p.dark.From), instant(p.dark.To)
		if !p.dark.To.IsZero() {
			length := p.dark.To.Sub(p.dark.From)
			out.LengthMS = lengthOf(sources.Interval{Min: length, Max: length})
		}
	}
	return out
}
