package headless

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/internal/mute"
	"coordtop/sources"
	"coordtop/sources/verdict"
	uirows "coordtop/ui/rows"
)

// ErrFound reports that Why found something wrong.
var ErrFound = errors.New("found something wrong")

// WhyOptions are the options of Why.
type WhyOptions struct {
	Format  Format
	Names   []string      // only what concerns these, as SOURCE, SOURCE/NAME or SOURCE/SPACE/NAME; none: all
	Timeout time.Duration // how long to wait for slow sources; 0: 5 s

	Recorded // where nothing is, the answer says so
	Runbooks map[diagnose.Pattern]string
	Muting
}

// Why waits as Get does and prints to out what is wrong and why. Text prints what is wrong with the listing of
// the sources to diag. The errors are those of Get, and ErrFound where something is wrong; out has been written
// by then.
func Why(ctx context.Context, feed Feed, out, diag io.Writer, o WhyOptions) error {
	s, last, err := look(ctx, feed, o.Timeout, o.Names, o.Recall)
	if err != nil {
		return err
	}
	if o.Format == Text {
		text := textSources(s, Now(feed))
		if o.Recall == nil {
			text += "nothing is recorded here: former leaders are known only as far as the servers tell\n"
		}
		if err := writeText(diag, text); err != nil {
			return err
		}
	}
	return errors.Join(explain(out, s, Now(feed), "nothing is wrong", last, o), missing(s, o.Names...))
}

// WhyAt prints to out what was wrong at an instant, from the State that a recording has for it. The errors are as of
// Why.
func WhyAt(out io.Writer, s *sources.State, at time.Time, o WhyOptions) error {
	return explain(out, s, at, "nothing was wrong at "+at.Format(time.DateTime), nil, o)
}

// explain prints to out what is wrong with the rows of a State at now, and with its sources, or calm. It returns
// ErrFound where something is, the errors of the names, or the error of out.
func explain(out io.Writer, s *sources.State, now time.Time, calm string, last *sources.Keyframe, o WhyOptions) (err error) {
	j, list := judge(s), rows(s, o.Names)
	wrong, findings := o.find(j, now, last, o.Runbooks)
	if len(o.Names) > 0 {
		findings = concerning(findings, list, o.Names)
	}
	muted := o.decide(j, wrong, findings, now)
	if known := len(findings) - muted.Unmuted; known > 0 && o.Unacknowledged {
		findings = findings[:muted.Unmuted]
		calm += " but for what is acknowledged or muted (" + format.Count(known) + ")"
	}
	if o.Format == JSON {
		err = writeLine(out, whyJSON{V: version, At: instant(now), Recorded: o.Recall != nil, Findings: findingsOf(findings, &muted)})
	} else {
		err = writeText(out, whyText(findings, &muted, now, calm+", as far as coordtop can see\n"))
	}
	if err == nil && len(findings) > 0 {
		err = ErrFound
	}
	return errors.Join(err, checkNames(s, list, o.Names))
}

// concerning returns the findings about any of the rows, or about a source that names name.
func concerning(findings []diagnose.Finding, list []*sources.Row, names []string) []diagnose.Finding {
	return slices.DeleteFunc(findings, func(f diagnose.Finding) bool {
		if len(f.Rows) == 0 {
			return f.Source != "" && !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name+"/", f.Source+"/") })
		}
		return !slices.ContainsFunc(f.Rows, func(r diagnose.Row) bool { return slices.Contains(list, r.Row) })
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
			texts[i] = strings.Replace(texts[i], "\n", "\n    known "+m.Reason(now)+"\n", 1)
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
	list := make([]findingJSON, len(findings))
	for i := range list {
		list[i] = findingOf(&findings[i], muted.Findings[i], muted.Rows)
	}
	return list
}

// findingOf returns a Finding with the Mute of all of it, nil for none, and those of its rows.
func findingOf(f *diagnose.Finding, known *mute.Mute, rows map[sources.Ref]*mute.Mute) findingJSON {
	return findingJSON{
		Acknowledged: acknowledged(known),
		Pattern:      f.Pattern.String(), Severity: f.Severity.String(), Title: text(f.Title), Source: orNull(f.Source),
		sinceJSON: sinceOf(f.Since), Effect: orNull(f.Effect), Runbook: orNull(f.Runbook), Hidden: f.Hidden,
		Who:     each(f.Who, plain),
		Reasons: each(f.Reasons, func(r *diagnose.Reason) reasonJSON { return reasonJSON{text(r.Text), r.Sure.String()} }),
		Steps: each(f.Steps, func(s *diagnose.Step) stepJSON {
			return stepJSON{text(s.Text), orNull(string(s.Place)), orNull(s.Command)}
		}),
		Rows: each(f.Rows, func(r *diagnose.Row) findingRowJSON {
			return findingRowJSON{text(r.Source), orNull(r.Space), text(r.Name), exact(r.Name), problemOf(&r.Problem, rows[r.Ref]), text(r.Short)}
		}),
	}
}

// Muting holds the mutes that apply to an output.
type Muting struct {
	Mutes          []mute.Mute
	Unacknowledged bool // what they cover does not count, see GetOptions.FailOn, and is not printed, see GetOptions.Problems and Why
}

// decide returns what of the problems in a State is muted.
func (m *Muting) decide(j *verdict.Judge, list []*sources.Row, findings []diagnose.Finding, now time.Time) mute.Decision {
	return mute.Decide(&mute.Input{Mutes: m.Mutes, Judge: j, Rows: list, Findings: findings, Now: now, Matches: uirows.Matcher(j.State, now)})
}

// acknowledgedJSON is the Mute of a problem.
type acknowledgedJSON struct {
	By    string  `json:"by"`
	Until *string `json:"until" is:"time"`
	Text  *string `json:"text"`
}

func acknowledged(m *mute.Mute) *acknowledgedJSON {
	if m == nil {
		return nil
	}
	return &acknowledgedJSON{text(m.By), instant(m.Until), orNull(m.Text)}
}
