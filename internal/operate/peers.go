package operate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/format"
	"coordtop/internal/spawn"
	"coordtop/sources"
)

// justNow is for how long an action of another coordtop is told to whoever is about to act on the
// same row, and readWithin how long the audit may take for that.
const justNow, readWithin = time.Minute, time.Second

// peers says what another coordtop does to a row, or just did, as the audit has it.
func (o *Operator) peers(ctx context.Context, row *sources.Row) []string {
	if row == nil || o.options.Audit == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	entries, err := spawn.Within(ctx, 0, o.AuditEntries)
	if err != nil {
		return []string{"The audit cannot be read (" + clean(err.Error()) + "): what another coordtop just did is not known."}
	}
	var lines []string
	now := o.options.Now()
	took := map[string]bool{} // owners, as the audit has them
	for i := len(entries) - 1; i >= 0 && len(lines) < 2; i-- {
		e := &entries[i]
		if e.Ours || e.Ref != row.Ref {
			continue
		}
		after := e.After.Name()
		owns := e.Result == action.Seen.String() && after != "" && ownedBy(row, after) && (e.Action == action.Acquire.String() ||
			e.Action == action.Campaign.String() || e.Action == action.Try.String())
		ago := now.Sub(e.At)
		switch how := "with another coordtop " + format.Age(ago) + " ago"; {
		case owns && !took[after]:
			took[after] = true
			lines = append(lines, fmt.Sprintf("Its owner %s is %s, who took it %s.", clean(after), clean(e.Who), how))
		case e.Result == "" && (e.Runs || ago < justNow):
			lines = append(lines, fmt.Sprintf("%s began %s %s: %s.", clean(e.Who), clean(e.Action), how, clean(e.Unfinished())))
		case e.Result != "" && ago < justNow:
			lines = append(lines, fmt.Sprintf("%s did %s %s: %s.", clean(e.Who), clean(e.Action), how, clean(e.Result)))
		}
	}
	return lines
}

// ownedBy reports whether one of the owners of a row has that label or ID.
func ownedBy(row *sources.Row, who string) bool {
	return slices.ContainsFunc(row.Owners, func(w sources.Owner) bool { return w.Label == who || w.ID == who })
}
