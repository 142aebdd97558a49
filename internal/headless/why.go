package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/internal/mute"
	"coordtop/sources"
)

// ErrFound reports that Why found something wrong.
var ErrFound = errors.New("found something wrong")

// WhyOptions are the options of Why.
type WhyOptions struct {
	Format  Format
	Names   []string      // only what concerns these, as SOURCE, SOURCE/NAME or SOURCE/SPACE/NAME; none: all
	Timeout time.Duration // how long to wait for slow sources; 0: 5 s

	// Recall and Past are as in GetOptions and diagnose.Input. A nil Recall means that nothing is recorded, and
	// the answer says so.
	Recall   func() *sources.Keyframe
	Past     func(sources.Ref) []sources.Term
	Acts     []sources.Event // what people did: see diagnose.Input
	Runbooks map[diagnose.Pattern]string
	Muting

	then  bool                                 // of a recording
	known func(source string) (int, time.Time) // diagnose.Input.Known
}

// Why waits as Get does and prints to out what is wrong and why. Text prints what is wrong with the listing of
// the sources to diag. The errors are those of Get, and ErrFound where something is wrong; out has been written
// by then.
func Why(ctx context.Context, feed Feed, out, diag io.Writer, o WhyOptions) error {
	var last *sources.Keyframe
	recall := o.Recall
	if recall != nil {
		recall = func() *sources.Keyframe {
			last = o.Recall()
			return last
		}
	}
	s, err := look(ctx, feed, o.Timeout, o.Names, recall)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, src := range s.Sources {
		textSource(&b, s, src, time.Now())
	}
	if o.Recall == nil {
		b.WriteString("nothing is recorded here: former leaders are known only as far as the servers tell\n")
	}
	if o.Format == Text {
		if _, err := io.WriteString(diag, b.String()); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
	}
	list := rows(s, o.Names)
	o.known = func(source string) (int, time.Time) { return knownOf(last, source) }
	return errors.Join(explain(out, s, list, time.Now(), o), missing(s, o.Names...), checkNames(s, list, o.Names))
}

// WhyAt prints to out what was wrong at an instant, from the State that a recording has for it. The errors are as of
// Why.
func WhyAt(out io.Writer, s *sources.State, at time.Time, o WhyOptions) error {
	list := rows(s, o.Names)
	o.then = true
	return errors.Join(explain(out, s, list, at, o), checkNames(s, list, o.Names))
}

// calm is the text where nothing is wrong. known is the number of causes that are left out because they are known.
func (o *WhyOptions) calm(known int, at time.Time) string {
	text := "nothing is wrong"
	if o.then {
		text = "nothing was wrong at " + at.Format(time.DateTime)
	}
	if known > 0 {
		text += " but for what is acknowledged or muted (" + format.Count(known) + ")"
	}
	return text + ", as far as coordtop can see\n"
}

// explain prints to out what is wrong with rows of a State at now, and with its sources. It returns ErrFound where
// something is, or the error of out.
func explain(out io.Writer, s *sources.State, list []*sources.Row, now time.Time, o WhyOptions) error {
	j := judge(s)
	wrong := diagnose.ProblemRows(j, now)
	findings := diagnose.Find(&diagnose.Input{
		Judge: j, Rows: wrong, Now: now, Past: o.Past, Known: o.known, Acts: o.Acts, Runbooks: o.Runbooks,
	})
	if len(o.Names) > 0 {
		findings = concerning(findings, list, o.Names)
	}
	muted := o.decide(j, wrong, findings, now)
	known := 0
	if o.Unacknowledged {
		known = len(findings) - muted.Unmuted
		findings = findings[:muted.Unmuted]
	}
	var err error
	if o.Format == JSON {
		err = writeLine(out, whyJSON{V: version, At: instant(now), Recorded: o.Recall != nil, Findings: findingsOf(findings, &muted)})
	} else {
		_, err = io.WriteString(out, whyText(findings, &muted, now, o.calm(known, now)))
	}
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	if len(findings) > 0 {
		return ErrFound
	}
	return nil
}

// knownOf is diagnose.Input.Known of what was recorded last; nil: nothing was.
func knownOf(last *sources.Keyframe, source string) (rows int, alive time.Time) {
	if last == nil {
		return 0, time.Time{}
	}
	for _, row := range last.Rows {
		if row != nil && row.Source == source {
			rows++
		}
	}
	for i := range last.Scopes {
		if c := &last.Scopes[i]; c.Source == source {
			alive = sources.Later(alive, sources.Earlier(c.Alive, last.At.Wall))
		}
	}
	return rows, alive
}

// concerning returns the findings about any of the rows, or about a source that names name.
func concerning(findings []diagnose.Finding, list []*sources.Row, names []string) []diagnose.Finding {
	return slices.DeleteFunc(findings, func(f diagnose.Finding) bool {
		ofSource := len(f.Rows) == 0 && slices.ContainsFunc(names, func(name string) bool {
			return name == f.Source || strings.HasPrefix(name, f.Source+"/")
		})
		return !ofSource && !slices.ContainsFunc(f.Rows, func(r diagnose.Row) bool {
			return slices.ContainsFunc(list, func(row *sources.Row) bool { return row.Ref == r.Ref })
		})
	})
}

// whyText writes findings for people: a paragraph for each.
func whyText(findings []diagnose.Finding, muted *mute.Decision, now time.Time, calm string) string {
	if len(findings) == 0 {
		return calm
	}
	texts := make([]string, len(findings))
	for i := range findings {
		texts[i] = findings[i].Text(now)
		if m := muted.Findings[i]; m != nil { // below the title
			title, rest, _ := strings.Cut(texts[i], "\n")
			texts[i] = title + "\n    known " + m.Reason(now) + "\n" + rest
		}
	}
	return strings.Join(texts, "\n")
}

type whyJSON struct {
	V        int           `json:"v" is:"version"`
	At       *string       `json:"at" is:"time"`
	Recorded bool          `json:"recorded"`
	Findings []findingJSON `json:"findings"`
}

type findingJSON struct {
	Pattern  string  `json:"pattern" is:"pattern"`
	Severity string  `json:"severity" is:"severity"`
	Title    string  `json:"title"`
	Source   *string `json:"source"`
	sinceJSON
	Reasons []reasonJSON     `json:"reasons"`
	Effect  *string          `json:"effect"`
	Steps   []stepJSON       `json:"steps"`
	Runbook *string          `json:"runbook"`
	Who     []string         `json:"who"`
	Rows    []findingRowJSON `json:"rows"`
	Hidden  int              `json:"hidden"`

	RowsLeftOut  int               `json:"rows_left_out,omitempty"`
	Acknowledged *acknowledgedJSON `json:"acknowledged"`
}

type reasonJSON struct {
	Text string `json:"text"`
	Sure string `json:"sure" is:"sure"`
}

type stepJSON struct {
	Text    string  `json:"text"`
	Key     *string `json:"key"`
	Command *string `json:"command"`
}

type findingRowJSON struct {
	Source    string  `json:"source"`
	Namespace *string `json:"namespace"`
	Name      string  `json:"name"`
	NameB64   string  `json:"name_b64,omitempty"`
	problemJSON
	Short string `json:"short"`
}

func findingsOf(findings []diagnose.Finding, muted *mute.Decision) []findingJSON {
	list := each(findings, findingOf)
	for i := range list {
		list[i].Acknowledged = acknowledged(muted.Findings[i])
		for j := range list[i].Rows {
			list[i].Rows[j].Acknowledged = acknowledged(muted.Rows[findings[i].Rows[j].Ref])
		}
	}
	return list
}

func findingOf(f *diagnose.Finding) findingJSON {
	return findingJSON{
		Pattern: f.Pattern.String(), Severity: f.Severity.String(), Title: text(f.Title), Source: orNull(f.Source),
		sinceJSON: sinceOf(f.Since), Effect: orNull(f.Effect), Runbook: orNull(f.Runbook), Hidden: f.Hidden,
		Who:     each(f.Who, plain),
		Reasons: each(f.Reasons, func(r *diagnose.Reason) reasonJSON { return reasonJSON{text(r.Text), r.Sure.String()} }),
		Steps: each(f.Steps, func(s *diagnose.Step) stepJSON {
			return stepJSON{text(s.Text), orNull(s.Place.Key()), orNull(s.Command)}
		}),
		Rows: each(f.Rows, func(r *diagnose.Row) findingRowJSON {
			return findingRowJSON{text(r.Source), orNull(r.Space), text(r.Name), exact(r.Name), problemOf(&r.Problem), text(r.Short)}
		}),
	}
}
