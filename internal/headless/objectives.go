package headless

import (
	"errors"
	"fmt"
	"io"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/internal/objective"
	"coordtop/sources"
)

// Objectives returns one of these after it has printed: an objective is missed, or none is, but one may be.
var (
	ErrMissed   = errors.New("objectives are missed")
	ErrNotKnown = errors.New("objectives are not known to be kept, because too much was not observed")
)

// ObjectivesOptions are the options of Objectives.
type ObjectivesOptions struct {
	Format Format
	At     time.Time // the end of the spans
	// Aliases are shown beside the numbers that they stand for.
	Aliases map[sources.Ref]history.Alias
}

// Objectives prints how each primitive keeps its objectives. Its error is ErrMissed or ErrNotKnown with the number of
// results, or that of out.
func Objectives(out io.Writer, results []objective.Result, o ObjectivesOptions) (err error) {
	if o.Format == JSON {
		err = writeLine(out, objectivesJSON{V: version, At: instant(o.At), Results: each(results, func(r *objective.Result) resultJSON {
			return resultOf(r, o.Aliases[r.Ref])
		})})
	} else {
		table := [][]string{{"RESULT", "NAME", "OBJECTIVE", "NO OWNER", "BUDGET", "USED", "BURN LAST HOUR", "NOT OBSERVED"}}
		for i := range results {
			table = append(table, objectiveText(&results[i], o.Aliases[results[i].Ref].Text))
		}
		err = align(out, table)
	}
	if err != nil {
		return err
	}
	counts, of := objective.Counts(results), " of "+format.Count(len(results))
	switch {
	case counts[objective.Missed] > 0:
		return fmt.Errorf("%w: %s", ErrMissed, format.Count(counts[objective.Missed])+of)
	case counts[objective.NotKnown] > 0:
		return fmt.Errorf("%w: %s", ErrNotKnown, format.Count(counts[objective.NotKnown])+of)
	}
	return nil
}

// objectiveText returns a line of the table.
func objectiveText(r *objective.Result, alias string) []string {
	o := r.Objective
	if !r.Fits() {
		return []string{r.Verdict().String(), r.Unfit(func(s string) string { return format.Clean(s, maxText) }), o.Text, "?", format.Precise(o.Budget()), "?", "?", "?"}
	}
	unseen := "-"
	if r.All.Unseen > 0 {
		unseen = format.Precise(r.All.Unseen)
	}
	return []string{r.Verdict().String(), format.Clean(r.Ref.Source+"/"+r.Ref.Name, maxText) + aside(alias), o.Text, r.All.Vacant.Short(), format.Precise(o.Budget()),
		r.Used().Text("%"), r.Burn().Text("x"), unseen}
}
