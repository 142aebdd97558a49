package headless

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/fleet"
	"coordtop/internal/ground/address"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/sources/verdict"
)

// OwnersOptions are the options of Owners.
type OwnersOptions struct {
	Format  Format
	By      origin.By
	Names   []string      // only these hosts, programs or sessions; none: all
	Timeout time.Duration // how long to wait for slow sources; 0: 5 s

	Recall func() *sources.Keyframe // as in GetOptions
	Past   func(sources.Ref) []sources.Term
	Acts   []sources.Event
}

// Owners waits as Get does and prints to out what each host, program or session owns, leads and awaits, and what happens
// if it dies now. Text prints what is wrong with the listing of the sources to diag. The errors are those of Get; out has
// been written by then.
func Owners(ctx context.Context, feed Feed, out, diag io.Writer, o OwnersOptions) error {
	s, err := look(ctx, feed, o.Timeout, nil, o.Recall)
	if err != nil {
		return err
	}
	now, j := time.Now(), judge(s)
	findings := diagnose.Find(&diagnose.Input{Judge: j, Rows: diagnose.ProblemRows(j, now), Now: now, Past: o.Past, Acts: o.Acts})
	all := fleet.Parties(&fleet.Input{State: s, Now: now, By: o.By, Findings: findings})
	list := all
	if len(o.Names) > 0 {
		list = slices.DeleteFunc(slices.Clone(all), func(p *fleet.Party) bool { return !slices.Contains(o.Names, p.Name) })
	}
	if o.Format == JSON {
		err = encodeTo(out, ownersJSON{V: version, At: instant(now), By: o.By.String(), Owners: each(list, func(p **fleet.Party) partyJSON { return partyOf(*p, now) })})
	} else {
		err = textParties(out, diag, s, list, o, now)
	}
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return errors.Join(missing(s), checkParties(all, o))
}

// checkParties reports the names that nobody has.
func checkParties(all []*fleet.Party, o OwnersOptions) error {
	var wrong []error
	for _, name := range o.Names {
		if slices.ContainsFunc(all, func(p *fleet.Party) bool { return p.Name == name }) {
			continue
		}
		var known []string
		for _, p := range all {
			known = append(known, p.Label())
		}
		hint := "; `coordtop owners --by " + o.By.String() + "` lists all"
		if near := address.Near(name, known...); near != "" {
			hint = ": did you mean " + near + "?"
		}
		wrong = append(wrong, fmt.Errorf("%s %s: %w: it owns and awaits nothing that is known%s", o.By, format.Clean(name, maxText), ErrNotFound, hint))
	}
	return errors.Join(wrong...)
}

// textParties writes a table, or where names were asked for all about each.
func textParties(out, diag io.Writer, s *sources.State, list []*fleet.Party, o OwnersOptions, now time.Time) error {
	var b strings.Builder
	for _, src := range s.Sources {
		textSource(&b, s, src, now)
	}
	if _, err := io.WriteString(diag, b.String()); err != nil || len(list) == 0 {
		return err
	}
	if len(o.Names) == 0 {
		return align(out, partyTable(list, o.By, now))
	}
	for i, p := range list {
		if i > 0 {
			if _, err := io.WriteString(out, "\n"); err != nil {
				return err
			}
		}
		if err := textParty(out, p, now); err != nil {
			return err
		}
	}
	return nil
}

func partyTable(list []*fleet.Party, by origin.By, now time.Time) [][]string {
	table := [][]string{{"", strings.ToUpper(by.String()), "OWNS", "LEADS", "AWAITS", "SOURCES", "OLDEST", "SOONEST END", "CHANGES", "IF IT GOES"}}
	for _, p := range list {
		awaits, oldest, soonest := format.Count(len(p.Awaits)), "-", "-"
		if len(p.Awaits) == 0 && p.Unasked {
			awaits = "?"
		}
		if len(p.Owns) > 0 {
			oldest, soonest = age(p.Oldest, now), endText(p.Ends, p.Until, now)
		}
		table = append(table, []string{map[verdict.Severity]string{verdict.Bad: "!", verdict.Warn: "-", verdict.Blind: "?"}[p.Severity], p.Label(), format.Count(len(p.Owns)), format.Count(p.Leads), awaits,
			format.Clean(strings.Join(p.Sources, ", "), maxText), oldest, soonest, format.Count(p.Changes), p.Outcome(now)})
		if p.AtLeast {
			table[len(table)-1][8] = "≥" + format.Count(p.Changes)
		}
	}
	return table
}

func endText(ends fleet.Ends, until, now time.Time) string {
	switch ends {
	case fleet.WithLease:
		return format.Left(until.Sub(now))
	case fleet.EndUnknown:
		return "?"
	case fleet.Never:
		return "no end"
	}
	return ends.String()
}

// textParty writes all about a party: what is wrong with it, what happens if it dies now, and its rows.
func textParty(out io.Writer, p *fleet.Party, now time.Time) error {
	var b strings.Builder
	fmt.Fprintln(&b, p.Sentence(now))
	for _, line := range p.Lines(now, sources.Ref.FullName) {
		fmt.Fprintln(&b, "  - "+line)
	}
	for _, f := range p.Findings {
		fmt.Fprintf(&b, "  why: %s: %s\n", f.Title, f.Cause())
	}
	table := [][]string{{"", "NAME", "SINCE", "LEASE", "NEXT IF IT DIES"}}
	for i := range p.Owns {
		h := &p.Owns[i]
		ends, until := h.Ends()
		table = append(table, []string{"  owns", path(h.Row), age(h.Owner.Since, now), endText(ends, until, now), p.NextText(h, now)})
	}
	for _, a := range p.Awaits {
		table = append(table, []string{"  awaits", path(a.Row), age(a.Waiter.Since, now), "-", fmt.Sprintf("it is place %d of the queue", a.Place)})
	}
	for _, row := range p.Lost {
		table = append(table, []string{"  lost", path(row), age(row.Nobody, now), "-", "-"})
	}
	if _, err := io.WriteString(out, b.String()); err != nil || len(table) == 1 {
		return err
	}
	return align(out, table)
}

type ownersJSON struct {
	V      int         `json:"v" is:"version"`
	At     *string     `json:"at" is:"time"`
	By     string      `json:"by"`
	Owners []partyJSON `json:"owners"`
}

type partyJSON struct {
	Name       string   `json:"name"`
	NameB64    string   `json:"name_b64,omitempty"`
	Severity   string   `json:"severity" is:"severity"`
	Findings   []string `json:"findings"`
	Sources    []string `json:"sources"`
	Leads      int      `json:"leads"`
	LastActive *string  `json:"last_active" is:"time"`
	Changes    int      `json:"changes"`
	AtLeast    bool     `json:"changes_at_least"`
	sinceJSON
	Sentence string        `json:"sentence"`
	Lines    []string      `json:"lines"`
	Falls    fallJSON      `json:"falls"`
	Owns     []holdingJSON `json:"owns"`
	Awaits   []awaitJSON   `json:"awaits"`
	Unasked  bool          `json:"may_await_more"`
	Lost     []refJSON     `json:"lost"`
}

type fallJSON struct {
	Rows    int     `json:"rows"`
	Alone   int     `json:"alone"`
	Session int     `json:"with_session"`
	Lease   int     `json:"with_lease"`
	First   *string `json:"first" is:"time"`
	Last    *string `json:"last" is:"time"`
	Unknown int     `json:"unknown"`
	Kept    int     `json:"kept"`
	Never   int     `json:"never"`
}

type holdingJSON struct {
	refJSON
	sinceJSON
	Permits   int64    `json:"permits"`
	Fresh     bool     `json:"fresh"`
	Falls     bool     `json:"falls"`
	Ends      string   `json:"ends"`
	Until     *string  `json:"until" is:"time"`
	Next      string   `json:"next"`
	NextNames []string `json:"next_owners"`
}

type awaitJSON struct {
	refJSON
	sinceJSON
	Place int `json:"place"`
}

func partyOf(p *fleet.Party, now time.Time) partyJSON {
	active, _ := stamp(p.Seen)
	f := &p.Fall
	return partyJSON{
		Name: text(p.Name), NameB64: exact(p.Name), Severity: p.Severity.String(), Leads: p.Leads, LastActive: active, Changes: p.Changes, AtLeast: p.AtLeast,
		sinceJSON: sinceOf(p.Oldest), Sentence: p.Sentence(now), Lines: each(p.Lines(now, sources.Ref.FullName), plain), Unasked: p.Unasked,
		Findings: each(p.Findings, func(f **diagnose.Finding) string { return text((*f).Title) }), Sources: each(p.Sources, plain),
		Falls: fallJSON{Rows: f.Rows, Alone: f.Alone, Session: f.Session, Lease: f.Lease, First: instant(f.First), Last: instant(f.Last),
			Unknown: f.Unknown, Kept: f.Kept, Never: f.Never},
		Owns: each(p.Owns, func(h *fleet.Holding) holdingJSON {
			ends, until := h.Ends()
			names := p.Followers(h, now)
			return holdingJSON{refJSON: refOf(h.Row.Ref, h.Row.Kind), sinceJSON: sinceOf(h.Owner.Since), Permits: sources.Permits(h.Permits), Fresh: !h.Stale(),
				Falls: h.Falls(), Ends: ends.String(), Until: instant(until), Next: h.Next.String(), NextNames: each(names, plain)}
		}),
		Awaits: each(p.Awaits, func(a *fleet.Waiting) awaitJSON {
			return awaitJSON{refJSON: refOf(a.Row.Ref, a.Row.Kind), sinceJSON: sinceOf(a.Waiter.Since), Place: a.Place}
		}),
		Lost: each(p.Lost, func(row **sources.Row) refJSON { return refOf((*row).Ref, (*row).Kind) }),
	}
}

func plain(s *string) string { return text(*s) }

// encodeTo writes v as one line of JSON.
func encodeTo(out io.Writer, v any) error {
	var buf bytes.Buffer
	if err := encode(&buf, v); err != nil {
		return err
	}
	_, err := out.Write(buf.Bytes())
	return err
}
