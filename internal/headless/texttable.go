package headless

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// maxText bounds the bytes of a name or an owner that a line of text shows.
const maxText = 120

// clock formats times in text. It has the date, since such lines end up in files.
const clock = "2006-01-02 15:04:05.000"

// textGet writes a table to out, and the problems of the sources to diag. It explains an empty table, unless names were
// asked for.
func textGet(out, diag io.Writer, s *sources.State, list []*sources.Row, o GetOptions, now time.Time) error {
	var b strings.Builder
	b.WriteString(textSources(s, now))
	if len(list) == 0 && o.Problems {
		b.WriteString("no problems in what was read\n")
	} else if len(list) == 0 && len(o.Names) == 0 {
		textSettings(&b, s)
		if missing(s) == nil && !noSpaces(s) && o.Select != nil { // else what is missing explains it
			fmt.Fprintf(&b, "nothing to show: no primitive was found; name what to look for, as %s\n", hints(s, o.Select))
		}
	}
	if err := writeText(diag, b.String()); err != nil || len(list) == 0 {
		return err
	}
	if err := align(out, textTable(s, list, now)); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}

// textTable returns the heading and a line for each row. It has a column for the libraries of locks where
// any is known.
func textTable(s *sources.State, list []*sources.Row, now time.Time) [][]string {
	table := [][]string{{"STATE", "SOURCE", "KIND", "NAME", "OWNER", "SINCE", "LEASE", "WAITERS"}}
	known := spaces{}
	for _, r := range list {
		known.see(r.Ref)
	}
	libraries := slices.ContainsFunc(list, func(r *sources.Row) bool { return textFormat(r.Primitive) != "" })
	if libraries {
		table[0] = append(table[0], "LIBRARY")
	}
	for _, r := range list {
		line := textRow(s, r, known.name(r.Ref), now)
		if libraries {
			line = append(line, cmp.Or(format.Clean(textFormat(r.Primitive), maxText), "-"))
		}
		table = append(table, line)
	}
	return table
}

// textSettings writes a line for the settings of each scope: where nothing is shown, nothing else is
// known of it.
func textSettings(b *strings.Builder, s *sources.State) {
	for _, c := range s.Scopes {
		var settings []string
		for _, a := range c.About.Config {
			settings = append(settings, format.Clean(a.Key, maxText)+": "+format.Clean(a.Value, maxText))
		}
		if len(settings) > 0 {
			of := ""
			if c.Name != "" {
				of = " of " + format.Clean(c.Name, maxText)
			}
			fmt.Fprintf(b, "%s: settings%s: %s\n", format.Clean(c.Source, maxText), of, strings.Join(settings, ", "))
		}
	}
}

// hints returns what to add to the URLs of the sources.
func hints(s *sources.State, selects func(typ string) string) string {
	var list []string
	for _, src := range s.Sources {
		hint := selects(src.Type)
		if hint != "" && !slices.Contains(list, hint) {
			list = append(list, hint)
		}
	}
	return strings.Join(list, " or ")
}

// Warn writes a line for each warning about a source that somebody is about to act on.
func Warn(diag io.Writer, s *sources.State, source string) error {
	var b strings.Builder
	for _, src := range s.Sources {
		if src.Name == source {
			textSource(&b, s, src, time.Now())
		}
	}
	_, err := io.WriteString(diag, b.String())
	return err
}

// textSources returns the lines of textSource for all sources.
func textSources(s *sources.State, now time.Time) string {
	var b strings.Builder
	for _, src := range s.Sources {
		textSource(&b, s, src, now)
	}
	return b.String()
}

// textSource writes a line for each server of a source that is silent, and for each of its warnings. A recorder that is
// silent is said by who follows it.
func textSource(b *strings.Builder, s *sources.State, src sources.SourceStatus, now time.Time) {
	name := format.Clean(src.Name, maxText)
	for _, c := range scopesOf(s, src.Name) {
		if c.Health == sources.HealthStale && !c.Alive.IsZero() && !errors.Is(src.Err, sources.ErrUnseen) {
			fmt.Fprintf(b, "%s: STALE: its server last answered %s ago\n", name, format.Age(now.Sub(c.Alive)))
		}
		for _, w := range c.About.Warnings {
			if src.Err != nil && w == src.Err.Error() {
				continue // Get returns it as an error
			}
			fmt.Fprintf(b, "%s: %s\n", name, format.Clean(w, 400))
		}
	}
}

// spaces has the spaces of each source that were seen. Text shows the space of a name only where its
// source has several: two databases of a server may have a lock of the same number.
type spaces map[string]map[string]bool

func (s spaces) see(ref sources.Ref) {
	if ref.Name == "" || ref.Space == "" {
		return
	}
	if s[ref.Source] == nil {
		s[ref.Source] = map[string]bool{}
	}
	s[ref.Source][ref.Space] = true
}

// name returns the name of a primitive, with its space before it where its source has several. Behind
// the source's name and a slash it selects this primitive alone.
func (s spaces) name(ref sources.Ref) string {
	if len(s[ref.Source]) > 1 {
		return format.Clean(ref.InSource(), 2*maxText)
	}
	return format.Clean(ref.Name, maxText)
}

func textRow(s *sources.State, r *sources.Row, name string, now time.Time) []string {
	state := r.StatusAt(s, now).String()
	if r.Limited() {
		state += fmt.Sprintf(" %d/%d", r.Taken, r.Limit)
	}
	name += aside(r.Alias) + aside(r.Note) + textDoubt(r)
	owner, since, lease := "-", age(r.Nobody, now), "-"
	switch {
	case len(r.Owners) > 0:
		owner, since, lease = textOwners(r.Owners), age(r.Owners[0].Since, now), leaseLeft(&r.Owners[0], now)
	case r.OwnersHow == sources.Unknown:
		owner, since, lease = "?", "?", "?"
	}
	waiters := "?"
	if r.Queue.How != sources.Unknown {
		waiters = strconv.Itoa(r.Queue.Len) + aside(textWaiters(&r.Queue))
	}
	return []string{state, format.Clean(r.Source, maxText), likely(r.Kind.String(), r.Guessed()), name, owner, since, lease, waiters}
}

// textFormat returns the library that keeps a lock, with "likely" where other libraries write the same.
func textFormat(p *sources.Primitive) string {
	library, how := p.Format()
	return likely(library, how == sources.Inferred)
}

func likely(what string, guessed bool) string {
	if guessed {
		return "likely " + what
	}
	return what
}

// aside returns a remark about a name, in parentheses; "" for none.
func aside(s string) string {
	if s == "" {
		return ""
	}
	return " (" + format.Clean(s, maxText) + ")"
}

// textDoubt asks whether the name of a row is misspelt; "" where it had an owner.
func textDoubt(r *sources.Row) string {
	if len(r.Terms) > 0 {
		return ""
	}
	return aside(r.MaybeMisspelt())
}

// textOwners names up to three owners.
func textOwners(owners []sources.Owner) string {
	var names []string
	for i := range owners {
		names = append(names, format.Label(owners[i].Label, maxText))
	}
	return format.Some(names, 3)
}

// textWaiters names up to three waiters, in their order; "": none is known by name.
func textWaiters(q *sources.Queue) string {
	var names []string
	for i := range q.Waiters[:min(len(q.Waiters), 3)] {
		names = append(names, format.Label(q.Waiters[i].Label, maxText/4))
	}
	if len(names) == 0 {
		return ""
	}
	return format.SomeOf(names, 3, q.Len)
}

// age returns the age of a stamp, with a mark where it is only a bound, lies between two looks that
// tell different ages, or is claimed by the owner.
func age(s sources.Stamp, now time.Time) string {
	long := format.Age(now.Sub(s.At))
	switch {
	case s.How == sources.Unknown:
		return "?"
	case s.How == sources.AtLeast && now.Sub(s.At) < time.Second: // this is the first look: "at least nothing" is no age
		return "?"
	case s.How == sources.AtLeast:
		return "≥" + long
	case s.How == sources.Bound:
		return "≤" + long
	case s.How == sources.Claimed:
		return "(" + long + ")"
	case !s.After().IsZero() && format.Age(now.Sub(s.After())) != long:
		return "~" + long
	}
	return long
}

func leaseLeft(o *sources.Owner, now time.Time) string {
	switch {
	case o.BySession():
		return "session"
	case o.NoExpiry:
		return "no TTL"
	case o.Expires.How == sources.Unknown:
		return "?"
	}
	return format.Left(o.Expires.At.Sub(now))
}

// align writes a table with all columns but the last padded to the width of their longest cell.
func align(out io.Writer, table [][]string) error {
	widths := make([]int, len(table[0]))
	for _, line := range table {
		for i, cell := range line {
			widths[i] = max(widths[i], format.Width(cell))
		}
	}
	blanks := strings.Repeat(" ", slices.Max(widths)+2)
	b := bufio.NewWriterSize(out, 64<<10)
	for _, line := range table {
		for i, cell := range line[:len(line)-1] {
			_, _ = b.WriteString(cell) // Flush returns the first error
			_, _ = b.WriteString(blanks[:widths[i]-format.Width(cell)+2])
		}
		_, _ = b.WriteString(line[len(line)-1] + "\n")
	}
	return b.Flush()
}

// textEvent appends one line. withData adds the data of the event.
func textEvent(b *bytes.Buffer, e *sources.Event, known spaces, zone *time.Location, withData bool) {
	fmt.Fprintf(b, "%s  %-13s  %s", e.At.In(zone).Format(clock), e.Kind, format.Clean(e.Ref.Source, maxText))
	switch {
	case e.Ref.Name != "":
		b.WriteString("/" + known.name(e.Ref) + aside(e.Alias))
	case e.Scope != "":
		b.WriteString(" " + format.Clean(e.Scope, maxText))
	}
	switch {
	case e.Owner != (sources.OwnerRef{}):
		b.WriteString("  " + textOwner(e.Owner))
	case e.Kind == sources.EventPresent && e.How == sources.Unknown:
		b.WriteString("  ?")
	case e.Kind == sources.EventPresent:
		b.WriteString("  nobody")
	}
	if e.Previous != (sources.OwnerRef{}) {
		b.WriteString("  was " + textOwner(e.Previous))
	}
	switch {
	case e.Last != (sources.OwnerRef{}):
		b.WriteString("  before " + textOwner(e.Last))
	case e.LastSeen != (sources.OwnerRef{}):
		b.WriteString("  last seen " + textOwner(e.LastSeen))
	}
	if facts := textFacts(e); len(facts) > 0 {
		b.WriteString("  (" + strings.Join(facts, ", ") + ")")
	}
	if withData && e.Data != nil {
		b.WriteString(textData("data", e.Data.Own) + textData("owner's data", e.Data.Owner))
	}
	if e.Detail != "" && !(withData && e.Kind == sources.EventProclaimed) {
		b.WriteString("  " + format.Clean(e.Detail, 400))
	}
	b.WriteByte('\n')
}

// maxData bounds the bytes of a value that a line of text shows.
const maxData = 1000

// textData returns a value in quotes, behind its name; "" for no value.
func textData(name string, data sources.Blob) string {
	head := data.Head[:min(len(data.Head), maxData)]
	switch {
	case data.Len == 0:
		return ""
	case head == "":
		return fmt.Sprintf("  %s of %s bytes, not shown", name, format.Count(data.Len))
	case len(head) < data.Len:
		return fmt.Sprintf("  %s %q... (%s bytes)", name, head, format.Count(data.Len))
	}
	return fmt.Sprintf("  %s %q", name, head)
}

func textOwner(o sources.OwnerRef) string {
	text := format.Label(o.Label, maxText)
	if o.Fence > 0 {
		text += " fence " + strconv.FormatUint(o.Fence, 10)
	}
	return text
}

// textFacts returns the cause of an event, how it is known, and what is only known as an interval.
func textFacts(e *sources.Event) []string {
	var facts []string
	if e.Previous != (sources.OwnerRef{}) {
		facts = append(facts, "cause "+e.Cause.String())
	}
	if e.How != sources.Told && e.Kind != sources.EventPresent && e.Kind != sources.EventAbsent {
		facts = append(facts, e.How.String())
	}
	if !e.After.IsZero() {
		facts = append(facts, "within the last "+format.Precise(e.At.Sub(e.After)))
	}
	if e.Held != (sources.Interval{}) {
		facts = append(facts, "owned for "+e.Held.Text())
	}
	if e.Gap != (sources.Interval{}) {
		facts = append(facts, "nobody for "+e.Gap.Text())
	}
	if every := max(e.Held.Every, e.Gap.Every); every > 0 {
		facts = append(facts, "looks every "+format.Precise(every))
	}
	return facts
}
