package diagnose

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// maxText is the most bytes that a sentence repeats of a text that others wrote, and maxError of an error.
const (
	maxText  = 60
	maxError = 200
)

func label(text string) string { return format.Label(text, maxText) }

// name returns the name of a primitive for people.
func (f *finder) name(ref sources.Ref) string {
	if f.in.Name != nil {
		return label(f.in.Name(ref))
	}
	return label(ref.FullName())
}

// names joins the names of rows.
func (f *finder) names(rows []*problemRow, most int) string {
	var list []string
	rows = slices.SortedFunc(slices.Values(rows), func(a, b *problemRow) int { return a.row.Ref.Compare(b.row.Ref) })
	for _, c := range rows[:min(len(rows), most)] {
		list = append(list, f.name(c.row.Ref))
	}
	return format.SomeOf(list, most, len(rows))
}

// clock writes an instant: the time of day, with the date where it is another day.
func (f *finder) clock(t time.Time) string {
	t = t.In(f.in.Now.Location())
	if t.Format(time.DateOnly) != f.in.Now.Format(time.DateOnly) {
		return t.Format(time.DateTime)
	}
	return t.Format(time.TimeOnly)
}

// maxWord is the most bytes of a name that a command line repeats.
const maxWord = 200

// rowCommand is command about a primitive.
func (f *finder) rowCommand(verb string, row *sources.Row, flags ...string) string {
	name := row.FullName()
	if f.in.URL != nil {
		name = cmp.Or(f.in.URL(row), name)
	}
	return command(verb, name, flags...)
}

// command returns a command line of this program about a primitive, or a source; "": its name has what a terminal
// would obey, or is too long to be typed.
func command(verb, name string, flags ...string) string {
	if format.Clean(name, maxWord) != name {
		return ""
	}
	return strings.Join(append([]string{"coordtop", verb, format.ShellWord(name)}, flags...), " ")
}

// release returns the command that ends an ownership by force, if it is still the same; "": its backend has no way to.
func (f *finder) release(row *sources.Row, o *sources.Owner) string {
	if o == nil || o.Guard == "" || f.status(row.Source).Type == "dflockd" || format.Clean(o.Guard, maxWord) != o.Guard {
		return ""
	}
	return f.rowCommand("release", row, "--if-owner", format.ShellWord(o.Guard))
}

// status returns the state of a source.
func (f *finder) status(name string) *sources.SourceStatus {
	list := f.in.Judge.State.Sources
	if i := slices.IndexFunc(list, func(s sources.SourceStatus) bool { return s.Name == name }); i >= 0 {
		return &list[i]
	}
	return &sources.SourceStatus{Name: name, Type: name}
}

// about returns what the source of a row says of itself.
func (f *finder) about(row *sources.Row) *sources.About {
	if st := f.in.Judge.State; row.Scope < len(st.Scopes) {
		return &st.Scopes[row.Scope].About
	}
	return &sources.About{}
}

// source returns the name of a source with its type: "redis leases".
func (f *finder) source(name string) string {
	if kind := f.status(name).Type; kind != name {
		return kind + " " + label(name)
	}
	return label(name)
}

// thing returns the noun for n primitives of the row's kind, such as "lock" or "locks".
func thing(row *sources.Row, n int) string {
	switch row.Kind {
	case sources.KindUnknown:
		return have(n, "lock", "locks")
	case sources.KindMutex:
		return have(n, "mutex", "mutexes")
	}
	return row.Kind.String() + have(n, "", "s")
}

// things counts rows in words: "10 elections", or "3 locks" of several kinds.
func things(rows []*problemRow) string {
	if slices.ContainsFunc(rows, func(c *problemRow) bool { return c.row.Kind != rows[0].row.Kind }) {
		return format.Count(len(rows)) + " locks"
	}
	return format.Count(len(rows)) + " " + thing(rows[0].row, len(rows))
}

// possible returns reasons of which none is preferred.
func possible(texts ...string) (reasons []Reason) {
	for _, text := range texts {
		reasons = append(reasons, Reason{text, Possible})
	}
	return reasons
}

// have is the verb for so many.
func have(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// short is the problem of a row in the few cells of the list.
func (f *finder) short(c *problemRow) string {
	switch {
	case c.problem.Fault == verdict.NoLeader && c.last != nil:
		return c.verdict.Last.String() + ", was " + label(c.last.Owner.Name())
	case c.problem.Told:
		return c.verdict.Last.String()
	}
	return c.problem.Sentence
}

// waiting returns what a row without a free permit means for those who wait: "2 wait, the longest for 5m";
// "": nobody is known to wait.
func (f *finder) waiting(row *sources.Row) string {
	if row.Queue.How == sources.Unknown || row.Queue.Len == 0 {
		return ""
	}
	text := format.Count(row.Queue.Len) + have(row.Queue.Len, " waits", " wait")
	if first := row.Queue.WaitingSince(); first.How != sources.Unknown {
		text += have(row.Queue.Len, " for ", ", the longest for ") + format.Age(f.in.Now.Sub(first.At))
	}
	return text
}

// idle describes the owner of a row that does nothing: "is idle in a transaction"; "": it is not idle.
func idle(o *sources.Owner) string {
	switch o.Idle {
	case sources.IdleSession:
		return "is idle: its session does nothing"
	case sources.IdleInTransaction:
		return "is idle in a transaction"
	}
	return ""
}

// who is the name of an owner's origin, for Finding.Who.
func (f *finder) who(o *sources.Owner) []string { return []string{label(f.labels.OfOwner(o).Name())} }

// where adds the host to the label of an owner where the label does not name it.
func (f *finder) where(o *sources.Owner) string {
	text := label(o.Label)
	if host := f.labels.OfOwner(o).Host; host != "" && !strings.Contains(o.Label, host) {
		text += " on " + label(host)
	}
	return text
}

// counted returns "" for none, else a count with a word.
func counted(n int, one, many string) string {
	if n == 0 {
		return ""
	}
	return format.Count(n) + " " + have(n, one, many)
}

// joined joins the parts that are not empty.
func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), sep)
}
