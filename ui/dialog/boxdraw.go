package dialog

import (
	"slices"
	"strings"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// boxLabel is how many cells the labels of a box take.
const boxLabel = 10

// boxTitle begins the first line of a box: what would be done.
func boxTitle(v action.Verb) string {
	switch v {
	case action.Campaign:
		return "Campaign for"
	case action.Proclaim:
		return "Proclaim as leader of"
	case action.Try:
		return "Try to acquire"
	case action.Update:
		return "Update the data of"
	case action.CreateNode:
		return "Create the node of"
	case action.Release:
		return "Force-release"
	case action.CancelWait:
		return "End a wait for"
	}
	return verbButton(v)
}

// verbButton is the word on the button: the verb.
func verbButton(v action.Verb) string {
	if v == action.CancelWait { // not to be taken for the button that cancels
		return "End the wait"
	}
	s := v.String()
	return strings.ToUpper(s[:1]) + s[1:]
}

func (b *box) picture(a *Acting, w, h int) screen.Picture {
	p := screen.Picture{Danger: b.described && b.effect.Danger, Note: b.note()}
	head, facts := b.facts(a, w)
	form := b.form(a, w, dataLines, true, &p)
	if len(b.fields) > 0 {
		facts = append(facts, gap)
	}
	if len(head)+len(facts)+len(form) > h {
		form = b.form(a, w, 1, true, &p)
	}
	facts = squeezed(facts, len(head)+len(facts)+len(form)-h)
	head = squeezed(head, len(head)+len(facts)+len(form)-h)
	if len(head)+len(facts)+len(form) > h {
		form = b.form(a, w, 1, false, &p)
	}
	room := h - len(head) - len(form)
	if p.Cut = room < min(len(facts), 1); len(facts) > room {
		b.top = max(min(b.top, len(facts)-room+1), 0)
		facts = windowOf(a.Scene, facts, b.top, max(room, 0), w)
	} else {
		b.top = 0
	}
	facts = append(head, facts...)
	for i := range facts {
		if facts[i] == gap {
			facts[i] = a.Theme.Line(w).Done()
		}
	}
	p.Y += len(facts)
	p.Lines = append(facts, form...)
	p.Lines = p.Lines[:min(len(p.Lines), max(h, 0))]
	return p
}

// note is what the box will do if the row changes.
func (b *box) note() string {
	switch {
	case b.gone:
		return ""
	case b.pin() == action.PinName:
		return "If the owner changes, this box shows the new one: the claim waits for any owner."
	}
	return "If the owner changes, this box says so and nothing is sent."
}

// gap is an empty line that goes where there is no room.
const gap = ""

// squeezed takes up to n gaps away, the last ones first.
func squeezed(lines []string, n int) []string {
	for i := len(lines) - 1; i >= 0 && n > 0; i-- {
		if lines[i] == gap {
			lines = append(lines[:i], lines[i+1:]...)
			n--
		}
	}
	return lines
}

// windowOf is h of the lines from top on; its last line says where the rest is.
func windowOf(sc *screen.Scene, lines []string, top, h, w int) []string {
	if h < 2 {
		return lines[:min(h, len(lines))]
	}
	shown := append([]string(nil), lines[top:min(top+h-1, len(lines))]...)
	return append(shown, sc.Theme.Line(w).Put(sc.Theme.Warn, "pgup pgdown").Put(sc.Theme.Dim, " show "+paint.Count(len(lines)-len(shown), "more line")).Done())
}

// place names the source of a target, and the environment if it has a name.
func (a *Acting) place(source string) []paint.Part {
	parts := []paint.Part{a.Theme.Warn.Text(paint.Clean(source))}
	if a.Title != screen.NoTitle {
		parts = append(parts, paint.Plain(", "), a.Theme.Title.Text(a.Title))
	}
	return parts
}

// facts are what the person decides on: in head the target and its owner as they are, which are
// never out of sight, then what would happen to it, and what is sent for that.
func (b *box) facts(a *Acting, w int) (head, lines []string) {
	th, t := &a.Theme, &b.request.Target
	tail := append([]paint.Part{th.Strong.Text(" in ")}, a.place(t.Ref.Source)...)
	title := th.Line(w).Put(th.Strong, boxTitle(b.request.Verb)+" ")
	title.Put(th.Strong, th.FitName(paint.Clean(t.Ref.Name), max(w-title.X-paint.PartsWidth(tail), 8)))
	title.Parts(tail...)
	lines = []string{title.Done()}
	say := func(label string, parts ...paint.Part) {
		if format.Width(parts[0].Text) > w-boxLabel { // no name is cut
			lines = append(lines, labelled(th, label, parts[0].Text, w)...)
			label, parts = "", parts[1:]
		}
		l := th.Line(w).Cell(th.Dim, label, boxLabel)
		l.Parts(parts...)
		lines = append(lines, l.Done())
	}
	lines = append(lines, gap)
	say("lock", b.lock(a)...)
	say("owner", ownerOf(a, &b.request.Target, b.row)...)
	if t.Waiting {
		say("ends", paint.Plain("the wait of "+paint.CleanLabel(t.Label)))
	}
	head, lines = lines, nil
	if b.row != nil {
		say("waiting", boxQueue(a.Scene, b.row)...)
	}
	if text := b.changedText(); text != "" {
		lines = append(append(lines, gap), th.Wrapped(th.Bad, text+"; nothing will be sent", w)...)
		if b.gone || b.row == nil {
			return head, lines // what it would do is about another row
		}
	}
	lines = append(append(lines, gap), b.effects(a, w)...)
	if b.effect.Call != "" {
		lines = append(append(lines, gap), labelled(th, "runs", paint.Clean(b.effect.Call), w)...)
	}
	if b.effect.Next != "" {
		lines = append(lines, labelled(th, "next", paint.Clean(b.effect.Next), w)...)
	}
	return head, lines
}

// labelled is a label with text over as many lines as it needs.
func labelled(th *paint.Theme, label, text string, w int) []string {
	var lines []string
	for _, s := range paint.Wrap(text, w-boxLabel) {
		lines = append(lines, th.Line(w).Cell(th.Dim, label, boxLabel).Put("", s).Done())
		label = ""
	}
	return lines
}

func (b *box) lock(a *Acting) []paint.Part {
	t := &b.request.Target
	parts := []paint.Part{paint.Plain(paint.Clean(t.Ref.Name))}
	if b.row != nil {
		parts = append(parts, aliasOf(a, b.row)...)
		where := slices.DeleteFunc(screen.PlaceOf(a.Scene, b.row), func(s string) bool { return s == paint.Clean(t.Ref.Source) })
		return append(parts, a.Theme.Dim.Text("   "+strings.Join(where, " "+a.Theme.Dot+" ")))
	}
	return append(parts, a.Theme.Dim.Text("   "+t.Kind.String()))
}

// aliasOf returns the alias of a row, to stand behind its name.
func aliasOf(a *Acting, row *sources.Row) []paint.Part {
	if row == nil || screen.AliasOf(a.Scene, row) == "" {
		return nil
	}
	return []paint.Part{paint.Plain("  " + screen.AliasOf(a.Scene, row))}
}

// ownerOf is who owns a row now, which is nil where it is not listed: the one that an action is about
// where that is still one of them.
func ownerOf(a *Acting, t *action.Target, row *sources.Row) []paint.Part {
	th := &a.Theme
	switch {
	case row == nil:
		return []paint.Part{th.Dim.Text("?  " + notListed)}
	case len(row.Owners) == 0 && row.OwnersHow == sources.Unknown:
		return []paint.Part{paint.Plain("?"), th.Dim.Text("  this backend does not tell")}
	case len(row.Owners) == 0:
		return append([]paint.Part{th.Dim.Text("nobody")}, th.ForAge(row.Nobody, a.Now)...)
	}
	o := &row.Owners[0]
	for i := range row.Owners {
		if row.Owners[i].ID == t.Owner {
			o = &row.Owners[i]
		}
	}
	parts := ownerFacts(a.Scene, t.Ref, o)
	if n := len(row.Owners); n > 1 {
		parts = append(parts, th.Dim.Text("  and "+paint.Count(n-1, "more owner")))
	}
	return parts
}

// ownerFacts is an owner with all that tells it from others.
func ownerFacts(sc *screen.Scene, ref sources.Ref, o *sources.Owner) []paint.Part {
	th := &sc.Theme
	parts := []paint.Part{paint.Plain(paint.CleanLabel(o.Label))}
	if screen.IsOurs(sc, ref, o) {
		parts = append(parts, th.Accent.Text(screen.Us))
	}
	parts = append(append(parts, paint.Plain(" ")), th.ForAge(o.Since, sc.Now)...)
	if o.Mode == sources.Shared {
		parts = append(parts, th.Dim.Text("  "+o.Mode.String()))
	}
	if o.Permits > 1 {
		parts = append(parts, th.Dim.Text("  permits "), paint.Plain(format.Count(int(sources.Permits(o.Permits)))))
	}
	if o.Fence != 0 {
		parts = append(parts, th.Dim.Text("  fence "), paint.Plain(screen.Fence(o.Fence)))
	}
	return append(parts, th.Dim.Text("  lease "), screen.LeaseText(sc, o, verdict.Verdict{}))
}

// boxQueue is the queue in a line: the first one who waits is who comes next.
func boxQueue(sc *screen.Scene, row *sources.Row) []paint.Part {
	th, q := &sc.Theme, &row.Queue
	switch {
	case q.How == sources.Unknown:
		return []paint.Part{paint.Plain("?"), th.Dim.Text("  this backend tells no queue")}
	case q.Len == 0:
		return []paint.Part{th.Dim.Text("nobody")}
	case len(q.Waiters) == 0:
		return []paint.Part{paint.Plain(format.Count(q.Len))}
	}
	next := q.Next()
	who, comes := paint.CleanLabel(next[0].Label), "comes first"
	more := len(next) - 1
	if more > 0 {
		who, comes = who+" and "+format.Count(more)+" more", "come first, together"
	}
	switch inferred := q.How == sources.Inferred; {
	case inferred && more > 0:
		comes = "probably first, together (inferred)"
	case inferred:
		comes = "probably first (inferred)"
	}
	parts := append([]paint.Part{paint.Plain(format.Count(q.Len) + ": " + who)}, sc.Theme.ForAge(next[0].Since, sc.Now)...)
	return append(parts, th.Accent.Text("  "+th.Arrow+" "+comes))
}

// effects says what would happen, or why that is not known.
func (b *box) effects(a *Acting, w int) []string {
	th := &a.Theme
	if !b.described {
		return []string{th.Line(w).Put(th.Dim, "asking "+paint.Clean(b.request.Target.Ref.Source)+" what this would do, for at most 5 s").Done()}
	}
	if b.err != nil {
		return th.Wrapped(th.Bad, "cannot say what this would do: "+format.Clean(b.err.Error(), 2000), w)
	}
	var lines []string
	for i, text := range b.effect.Lines {
		if i == 0 {
			lines = th.Wrapped(th.Strong, paint.Clean(text), w)
			continue
		}
		st, mark := th.Dim, th.Bullet
		if b.effect.Danger {
			st = th.Bad
		}
		for _, s := range paint.Wrap(paint.Clean(text), w-4) {
			lines = append(lines, th.Line(w).Skip(2).Cell(st, mark, 2).Put("", s).Done())
			mark = ""
		}
	}
	return lines
}

// form is the fields and the buttons. It notes the cursor in p, counted from its own top.
func (b *box) form(a *Acting, w, dataHeight int, air bool, p *screen.Picture) []string {
	th := &a.Theme
	p.Cursor, p.Y = false, 0
	var lines []string
	if b.question() && !b.gone {
		lines = append(lines, b.refusal(a, w)...)
		return append(lines, th.Line(w).Done(), yesNo(a.Scene, w, b.request.Verb.String(), "no"))
	}
	for i, f := range b.fields {
		label := th.Cut(b.label(f), w/2)
		h := 1
		if f.kind == fieldData {
			h = dataHeight
		}
		drawn, x, y := f.draw(th, w-format.Width(label), h)
		if i == b.focus && !b.gone {
			p.X, p.Y, p.Cursor = format.Width(label)+x, len(lines)+y, true
		}
		st := th.Dim
		if f.focused && !b.gone {
			st = th.Selected
		}
		for _, s := range drawn {
			name := strings.TrimRight(label, " ")
			lines = append(lines, th.Line(format.Width(label)).Put(st, name).Done()+s)
			label = strings.Repeat(" ", format.Width(label))
		}
		if f.note != "" {
			lines = append(lines, th.Line(w).Skip(boxLabel).Put(th.Warn, f.note).Done())
		}
	}
	lines = append(lines, b.refusal(a, w)...)
	if air {
		lines = append(lines, th.Line(w).Done())
	}
	if b.gone {
		return append(lines, b.wayOut(a, w))
	}
	return append(lines, b.buttons(a, w))
}

// refusal is why the operator did not begin, or where what was typed did not go.
func (b *box) refusal(a *Acting, w int) []string {
	lines := append(a.Theme.Wrapped(a.Theme.Warn, b.hint, w), a.Theme.Wrapped(a.Theme.Bad, b.refused, w)...)
	if b.writing && b.question() { // a box says it beside its button
		lines = append(lines, a.Theme.Line(w).Put(a.Theme.Dim, writingAudit).Done())
	}
	return lines
}

// label stands before a field; all but that of the name are of one width.
func (b *box) label(f *field) string {
	text := fieldNames[f.kind]
	if f.kind == fieldName && b.effect.NeedsName != paint.Clean(b.request.Target.Ref.Name) {
		text = format.Fit("type "+paint.Clean(b.effect.NeedsName)+" to confirm", 40)
	}
	return format.Fit(text, max(boxLabel, format.Width(text)+2))
}
