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
	Recorded
}

// Owners waits as Get does and prints to out what each host, program or session owns, leads and awaits, and what happens
// if it dies now. Text prints what is wrong with the listing of the sources to diag. The errors are those of Get; out has
// been written by then.
func Owners(ctx context.Context, feed Feed, out, diag io.Writer, o OwnersOptions) error {
	s, last, err := look(ctx, feed, o.Timeout, nil, o.Recall)
	if err != nil {
		return err
	}
	now, j := Now(feed), judge(s)
	_, findings := o.find(j, now, last, nil)
	list := fleet.Parties(&fleet.Input{State: s, Now: now, By: o.By, Findings: findings})
	list, unknown := namedParties(list, o)
	if o.Format == JSON {
		err = writeLine(out, ownersJSON{V: version, At: instant(now), By: o.By.String(), Owners: each(list, func(p **fleet.Party) partyJSON { return partyOf(*p, now) })})
	} else {
		err = textParties(out, diag, s, list, o, now)
	}
	if err != nil {
		return err
	}
	return errors.Join(missing(s), unknown)
}

// namedParties returns the parties that have one of the names, all if no name is asked for, and an error about the
// names that nobody has.
func namedParties(all []*fleet.Party, o OwnersOptions) (list []*fleet.Party, unknown error) {
	if len(o.Names) == 0 {
		return all, nil
	}
	var known []string
	for _, p := range all {
		known = append(known, p.Label())
		if slices.Contains(o.Names, p.Name) {
			list = append(list, p)
		}
	}
	for _, name := range o.Names {
		if slices.ContainsFunc(list, func(p *fleet.Party) bool { return p.Name == name }) {
			continue
		}
		hint := "; `coordtop owners --by " + o.By.String() + "` lists all"
		if near := address.Near(name, known...); near != "" {
			hint = ": did you mean " + near + "?"
		}
		unknown = errors.Join(unknown, fmt.Errorf("%s %s: %w: it owns and awaits nothing that is known%s", o.By, format.Clean(name, maxText), ErrNotFound, hint))
	}
	return list, unknown
}

// textParties writes a table, or where names were asked for all about each.
func textParties(out, diag io.Writer, s *sources.State, list []*fleet.Party, o OwnersOptions, now time.Time) error {
	var b strings.Builder
	switch {
	case len(o.Names) > 0:
		for _, p := range list {
			textParty(&b, p, now)
		}
	case len(list) > 0:
		_ = align(&b, partyTable(list, o.By, now)) // a Builder takes all
	}
	return errors.Join(writeText(diag, textSources(s, now)), writeText(out, b.String()))
}

func partyTable(list []*fleet.Party, by origin.By, now time.Time) [][]string {
	table := [][]string{{"", strings.ToUpper(by.String()), "OWNS", "LEADS", "AWAITS", "SOURCES", "OLDEST", "SOONEST END", "CHANGES", "IF IT GOES"}}
	marks := map[verdict.Severity]string{verdict.Bad: "!", verdict.Warn: "-", verdict.Blind: "?"}
	for _, p := range list {
		oldest, soonest := "-", "-"
		if h := p.Soonest(); h != nil {
			oldest, soonest = age(p.Oldest, now), h.EndText(now)
		}
		table = append(table, []string{marks[p.Severity], p.Label(), format.Count(len(p.Owns)), format.Count(p.Leads), p.AwaitsText(),
			format.Clean(strings.Join(p.Sources, ", "), maxText), oldest, soonest, format.Count(p.Changes), p.Outcome(now)})
	}
	return table
}

// textParty writes all about a party: what happens if it dies now, what is wrong with it, and its rows.
func textParty(b *strings.Builder, p *fleet.Party, now time.Time) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintln(b, p.Sentence(now))
	for _, f := range p.Findings {
		fmt.Fprintf(b, "  why: %s: %s\n", f.Title, f.Cause())
	}
	table := [][]string{{"", "NAME", "SINCE", "LEASE", "NEXT IF IT DIES"}}
	for i := range p.Owns {
		h := &p.Owns[i]
		table = append(table, []string{"  owns", path(h.Row), age(h.Owner.Since, now), h.EndText(now), h.NextText()})
	}
	for _, a := range p.Awaits {
		table = append(table, []string{"  awaits", path(a.Row), age(a.Waiter.Since, now), "-", fmt.Sprintf("it is place %d of the queue", a.Place)})
	}
	for _, row := range p.Lost {
		table = append(table, []string{"  lost", path(row), age(row.Nobody, now), "-", "-"})
	}
	_ = align(b, table) // a Builder takes all
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
	sinceJSON
	Sentence string        `json:"sentence"`
	Falls    fallJSON      `json:"falls"`
	Owns     []holdingJSON `json:"owns"`
	Awaits   []awaitJSON   `json:"awaits"`
	Unasked  bool          `json:"may_await_more"`
	Lost     []refJSON     `json:"lost"`
}

type fallJSON struct {
	Rows  int `json:"rows"`
	Alone int `json:"alone"`
}

type holdingJSON struct {
	refJSON
	sinceJSON
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
	return partyJSON{
		Name: text(p.Name), NameB64: exact(p.Name), Severity: p.Severity.String(), Leads: p.Leads, LastActive: active, Changes: p.Changes,
		sinceJSON: sinceOf(p.Oldest), Sentence: p.Sentence(now), Falls: fallJSON{p.Fall.Rows, p.Fall.Alone}, Unasked: p.Unasked,
		Findings: each(p.Findings, func(f **diagnose.Finding) string { return text((*f).Title) }), Sources: each(p.Sources, plain),
		Owns: each(p.Owns, func(h *fleet.Holding) holdingJSON {
			return holdingJSON{refOf(h.Row.Ref, h.Row.Kind), sinceOf(h.Owner.Since), h.Ends.String(), instant(h.Until), h.Next.String(), each(h.Names, plain)}
		}),
		Awaits: each(p.Awaits, func(a *fleet.Waiting) awaitJSON {
			return awaitJSON{refOf(a.Row.Ref, a.Row.Kind), sinceOf(a.Waiter.Since), a.Place}
		}),
		Lost: each(p.Lost, func(row **sources.Row) refJSON { return refOf((*row).Ref, (*row).Kind) }),
	}
}

func plain(s *string) string { return text(*s) }
