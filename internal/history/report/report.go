package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/internal/history/trouble"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// Report describes a stretch of a recording.
type Report struct {
	Title   string // of the environment
	Span    history.Span
	Zone    *time.Location
	Picture string // link to the timeline in Markdown; "": no timeline

	// Actions are those of an audit, which also has actions that were not recorded. A recorded action with the same
	// instant and primitive is left out.
	Actions []sources.Event

	Thresholds sources.Thresholds // above these something is trouble; zero: the default ones

	lanes   []history.Lane
	trouble []trouble.Trouble // the worst first
	names   sources.Names     // for short names of the lanes
	aliases map[sources.Ref]history.Alias
	events  []sources.Event
	acts    []sources.Event
	waits   []trouble.Trouble // the longest first
	upTo    time.Time         // events after this were not read; zero: all were read

	holes []history.Hole // of the Span
}

// The limits of a report: the events that are read, and the rows of a table.
const (
	mostEvents = 20_000
	mostRows   = 1000
)

// Read reads the record of refs. If refs is nil, it reads all primitives that changed, or that nobody owned for a
// while.
func (r *Report) Read(ctx context.Context, reader history.Reader, refs []sources.Ref) (err error) {
	if err = r.readTrouble(ctx, reader, refs); err != nil {
		return err
	}
	r.chooseLanes(refs == nil)
	r.Have(r.lanes, nil)
	shown := make([]sources.Ref, len(r.lanes))
	for i := range r.lanes {
		shown[i] = r.lanes[i].Ref
	}
	if r.aliases, err = history.Aliases(ctx, reader, shown); err != nil {
		return err
	}
	events, err := reader.Events(ctx, r.Span.From, 0, mostEvents+1, history.EventFilter{Kinds: []sources.EventKind{
		sources.EventAction, sources.EventNote, sources.EventClockStep, sources.EventRestarted}})
	if len(events) > mostEvents {
		events = events[:mostEvents]
		if last := events[mostEvents-1].At; last.Before(r.Span.To) {
			r.upTo = last
		}
	}
	events = slices.DeleteFunc(events, func(e history.Event) bool { return r.audited(&e.Event) })
	for i := range r.Actions {
		events = append(events, history.Event{Event: r.Actions[i]})
	}
	slices.SortStableFunc(events, func(x, y history.Event) int { return x.At.Compare(y.At) })
	for i := range events {
		if e := &events[i].Event; !e.At.Before(r.Span.From) && e.At.Before(r.Span.To) && (refs == nil || concerns(e, refs)) {
			r.events = append(r.events, *e)
		}
	}
	return err
}

// Have sets lanes and events that were read elsewhere, which is enough for SVG.
func (r *Report) Have(lanes []history.Lane, events []sources.Event) {
	r.lanes, r.events, r.names = lanes, events, sources.Names{}
	for i := range lanes {
		r.names.Add(lanes[i].Ref.Name, i)
	}
}

// audited reports whether e is also one of the Actions.
func (r *Report) audited(e *sources.Event) bool {
	return slices.ContainsFunc(r.Actions, func(a sources.Event) bool {
		return a.Kind == e.Kind && a.At.Equal(e.At) && a.Ref.Name == e.Ref.Name
	})
}

// concerns reports whether e is about one of refs, about the source of one of refs, or about all sources.
func concerns(e *sources.Event, refs []sources.Ref) bool {
	return e.Ref.Source == "" || slices.ContainsFunc(refs, func(ref sources.Ref) bool { return ref == e.Ref || e.Ref.Name == "" && ref.Source == e.Ref.Source })
}

// Markdown writes the report.
func (r *Report) Markdown(out io.Writer) error {
	var b strings.Builder
	title := "Leadership"
	if r.Title != "" {
		title += " in " + cell(r.Title)
	}
	fmt.Fprintf(&b, "# %s, %s to %s\n\n", title, r.at(r.Span.From), r.at(r.Span.To))
	r.summary(&b)
	if holes := r.holes; len(holes) > 0 && holes[0].From.Equal(r.Span.From) {
		fmt.Fprintf(&b, "\nThe time before %s is %s: neither the numbers nor the tables say anything about it.\n", r.at(holes[0].To), holes[0].Why())
	}
	r.troubleTable(&b)
	if r.Picture != "" {
		fmt.Fprintf(&b, "\n## Timeline\n\n![Who led when; the tables below have the same in words](<%s>)\n", strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "").Replace(r.Picture))
	}
	r.numbers(&b)
	r.gapTable(&b)
	r.turns(&b)
	r.waitTable(&b)
	r.eventTable(&b)
	r.holesList(&b)
	fmt.Fprintf(&b, "\n## How to read this\n\nMade by coordtop from its recording. Times are in %s. A length such as \"1.0 s - 2.0 s\" lies between the two: "+
		"what was not observed counts for neither an owner nor a gap, and makes the lower number smaller. Time before the first owner that was seen is no gap; what was not observed behind the last one may be. Of a gap that began before this time only its part in it is counted.\n", cell(r.Span.To.In(r.Zone).Format("MST")))
	_, err := io.WriteString(out, b.String())
	return err
}

// listed reports whether e is listed among the actions and notes.
func listed(e *sources.Event) bool {
	switch e.Kind {
	case sources.EventAction, sources.EventNote, sources.EventClockStep, sources.EventRestarted:
		return true
	}
	return false
}

func kindOf(e *sources.Event) string { return strings.ReplaceAll(e.Kind.String(), "_", " ") }

// numbers writes a line for each primitive.
func (r *Report) numbers(b *strings.Builder) {
	b.WriteString("\n## Numbers\n\n")
	if len(r.lanes) == 0 {
		b.WriteString("Nothing changed in what was recorded.\n")
		return
	}
	b.WriteString("| primitive | kind | owners, last one first | changes | gaps | without an owner | longest gap | not known |\n|---|---|---|--:|--:|--:|--:|--:|\n")
	lanes := r.lanes[:min(len(r.lanes), mostRows)]
	for i := range lanes {
		s := lanes[i].Summary(r.Span)
		free := fmt.Sprintf("%d | %s | %s", s.Gaps, s.Nobody.Short(), s.Longest.Short())
		if s.Leveled {
			free = "- | - | -"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %d | %s | %s |\n", r.called(s.Ref), s.Kind, cmp.Or(format.Some(cells(s.Owners), ownersNamed), "nobody"), s.Changes, free,
			cmp.Or(s.NotKnown.String(), "-"))
	}
	if n := len(r.lanes); n > len(lanes) {
		fmt.Fprintf(b, "\nThese are the first of %s primitives: those in the worst trouble, then those that nobody owned for longest. Name some to see others.\n", format.Count(n))
	}
}

// ownersNamed is the most owners that a line of the numbers names.
const ownersNamed = 4

// ownersOf names the owners of terms in order and without duplicates; "" without terms.
func ownersOf(terms []sources.Term) string {
	var names []string
	for i := range terms {
		if name := cell(terms[i].Owner.Name()); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return format.Some(names, ownersNamed)
}

// gapTable writes a line for each time without an owner, but not for a mutex, which may be free.
func (r *Report) gapTable(b *strings.Builder) {
	type row struct {
		lane.Gap
		ref sources.Ref
	}
	var all []row
	for i := range r.lanes {
		if r.lanes[i].Kind == sources.KindMutex {
			continue
		}
		for _, g := range r.lanes[i].Gaps(r.Span) {
			all = append(all, row{g, r.lanes[i].Ref})
		}
	}
	n := len(all)
	if n > mostRows {
		slices.SortStableFunc(all, func(x, y row) int { return cmp.Compare(y.Sum.Max, x.Sum.Max) })
		all = all[:mostRows]
	}
	slices.SortStableFunc(all, func(x, y row) int { return x.Start.At.Compare(y.Start.At) })
	b.WriteString("\n## Times without an owner\n\n")
	if len(all) == 0 {
		b.WriteString("None was seen.\n")
		return
	}
	b.WriteString("| from | to | length | primitive | before | why it ended | after |\n|---|---|--:|---|---|---|---|\n")
	for _, g := range all {
		from, to, after, why := r.at(g.Start.At), "not observed", "", g.Before.Why()
		if g.Lasts {
			to = "it lasts"
		}
		if by := history.ForcedBy(g.ref, g.Before, r.acts); by != "" {
			why = "released by force by " + cell(by)
		}
		if g.Start.At.Before(r.Span.From) {
			from = "began before: " + from
		}
		if g.After != nil {
			to, after = r.at(g.End.At), cell(g.After.Owner.Name())
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", from, to, g.Short(), r.called(g.ref), cell(g.Before.Owner.Name()), why, after)
	}
	if n > mostRows {
		fmt.Fprintf(b, "\nThese are the longest of %s.\n", format.Count(n))
	}
}

// turns writes a line for each mutex that its owners took in turn without trouble.
func (r *Report) turns(b *strings.Builder) {
	var lines []string
	troubled := map[sources.Ref]bool{}
	for i := range r.trouble {
		for _, ref := range r.trouble[i].Refs {
			troubled[ref] = true
		}
	}
	for i := range r.lanes {
		l := &r.lanes[i]
		t, ok := trouble.TurnsOf(l, r.Span)
		if !ok || troubled[l.Ref] {
			continue
		}
		verb, waited := "take turns", "nobody was seen to wait for a second"
		if len(t.Owners) == 1 {
			verb = "takes it again and again"
		}
		for _, w := range r.waits {
			if w.Refs[0] == l.Ref {
				waited = "the longest wait was " + w.Length.Text()
				break
			}
		}
		lines = append(lines, fmt.Sprintf("- %s: %s %s, every %s, %s times; %s\n", r.called(l.Ref), format.Some(cells(t.Owners), ownersNamed), verb, format.Precise(t.Every), format.Count(t.Times), waited))
	}
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n## Locks that took turns\n\n")
	for _, line := range lines[:min(len(lines), mostRows)] {
		b.WriteString(line)
	}
	if n := len(lines); n > mostRows {
		fmt.Fprintf(b, "\nThere are %s more.\n", format.Count(n-mostRows))
	}
}

func (r *Report) eventTable(b *strings.Builder) {
	b.WriteString("\n## Actions, notes and what changed the clock or a server\n\n")
	if len(r.events) == 0 {
		b.WriteString("None is recorded. Actions and notes are those of the coordtops that run as the user who recorded, on the same machine, or that share the store of a team: what others did is not known.\n")
	} else {
		b.WriteString("| at | what | where | detail |\n|---|---|---|---|\n")
	}
	for i := range r.events {
		e := &r.events[i]
		where := r.called(e.Ref)
		if e.Ref.Name == "" {
			where = cell(strings.TrimSpace(e.Ref.Source + " " + e.Scope))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", r.at(e.At), kindOf(e), where, cell(e.Detail))
	}
	if !r.upTo.IsZero() {
		fmt.Fprintf(b, "\nOnly the first %s events were read, up to %s.\n", format.Count(mostEvents), r.at(r.upTo))
	}
}

func (r *Report) holesList(b *strings.Builder) {
	b.WriteString("\n## Not recorded\n\n")
	if len(r.holes) == 0 {
		b.WriteString("A coordtop ran all of the time. The numbers say what it could not observe.\n")
		return
	}
	b.WriteString("Nothing is known of these times: coordtop did not run, or could not write, or what it wrote was dropped.\n\n")
	for _, h := range r.holes {
		fmt.Fprintf(b, "- %s to %s (%s): %s\n", r.at(h.From), r.at(h.To), format.Precise(h.To.Sub(h.From)), h.Why())
	}
}

func (r *Report) at(t time.Time) string { return t.In(r.Zone).Format("2006-01-02 15:04:05.000") }

// called returns the name of a primitive for a cell: its source, its space if that is needed, and its name.
func (r *Report) called(ref sources.Ref) string {
	return cell(ref.Source + "/" + r.inSource(ref))
}

// inSource returns the name of a primitive without its source: its alias, if any, and its name.
func (r *Report) inSource(ref sources.Ref) string {
	return strings.TrimSpace(r.aliases[ref].Text + " " + r.names.InSource(ref, r.ref))
}

func (r *Report) ref(lane int32) sources.Ref { return r.lanes[lane].Ref }

// cell returns a text escaped for a cell of a Markdown table.
func cell(s string) string { return brackets.Replace(format.Markdown(format.Label(s, 200))) }

// cells calls cell for each of names, in place.
func cells(names []string) []string {
	for i := range names {
		names[i] = cell(names[i])
	}
	return names
}

var brackets = strings.NewReplacer("(", `\(`, ")", `\)`, "{", `\{`, "}", `\}`)
