package dialog

import (
	"cmp"
	"slices"
	"strings"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// boxLabel is the number of cells for the labels of a box.
const boxLabel = 10

// boxTitles begin the first lines of boxes. The others begin with the word on the button.
var boxTitles = map[action.Verb]string{
	action.Campaign: "Campaign for", action.Proclaim: "Proclaim as leader of", action.Try: "Try to acquire",
	action.Update: "Update the data of", action.CreateNode: "Create the node of",
	action.Release: "Force-release", action.CancelWait: "End a wait for",
}

// boxTitle returns the words before the name in the first line of a box.
func boxTitle(v action.Verb) string { return cmp.Or(boxTitles[v], verbButton(v)) }

// verbButton returns the word on the button: the verb.
func verbButton(v action.Verb) string {
	if v == action.CancelWait { // "Cancel-wait" could be mistaken for the button Cancel
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
	p.Lines = slices.Concat(head, facts, form)
	p.Lines = p.Lines[:min(len(p.Lines), max(h, 0))]
	p.Y += len(head) + len(facts)
	for i := range p.Lines {
		if p.Lines[i] == gap {
			p.Lines[i] = a.Theme.Line(w).Done()
		}
	}
	return p
}

// note returns what the box does if the owner changes.
func (b *box) note() string {
	switch {
	case b.gone:
		return ""
	case b.pin() == action.PinName:
		return "If the owner changes, this box shows the new one: the claim waits for any owner."
	}
	return "If the owner changes, this box says so and nothing is sent."
}

// gap is an empty line that is left out if there is no room.
const gap = ""

// squeezed removes up to n gaps, the last ones first.
func squeezed(lines []string, n int) []string {
	for i := len(lines) - 1; i >= 0 && n > 0; i-- {
		if lines[i] == gap {
			lines = append(lines[:i], lines[i+1:]...)
			n--
		}
	}
	return lines
}

// windowOf returns h lines from top on; the last one names the keys that scroll.
func windowOf(sc *screen.Scene, lines []string, top, h, w int) []string {
	if h < 2 {
		return lines[:min(h, len(lines))]
	}
	shown := slices.Clone(lines[top:min(top+h-1, len(lines))])
	more := " show " + paint.Count(len(lines)-len(shown), "more line")
	return append(shown, sc.Theme.Line(w).Put(sc.Theme.Warn, "pgup pgdown").Put(sc.Theme.Dim, more).Done())
}

// place returns the name of a source, and of the environment if it has one.
func (a *Acting) place(source string) []paint.Part {
	parts := []paint.Part{a.Theme.Warn.Text(paint.Clean(source))}
	if a.Title != screen.NoTitle {
		parts = append(parts, paint.Plain(", "), a.Theme.Title.Text(a.Title))
	}
	return parts
}

// facts draws the basis of the decision: in head the target and its owner, which are always visible;
// in lines the effects of the action, and the call that is sent for it.
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
			return head, lines // the effects are those on the former row
		}
	}
	lines = append(append(lines, gap), b.effects(a, w)...)
	if b.effect.Call != "" {
		lines = append(append(lines, gap), labelled(th, "runs", paint.Clean(b.effect.Call), w)...)
	}
	return head, append(lines, labelled(th, "next", paint.Clean(b.effect.Next), w)...)
}

// labelled draws a label and a text over as many lines as it needs.
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

// aliasOf returns the alias of a row as a part behind its name; no part for a row without an alias.
func aliasOf(a *Acting, row *sources.Row) []paint.Part {
	if row == nil || screen.AliasOf(a.Scene, row) == "" {
		return nil
	}
	return []paint.Part{paint.Plain("  " + screen.AliasOf(a.Scene, row))}
}

// ownerOf describes the present owner of a row: the owner in t if it is still one of them. row nil:
// the row is not listed.
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
	n := len(row.Owners) - 1
	more := paint.When(n > 0, "  and "+paint.Count(n, "more owner"))
	return append(ownerFacts(a.Scene, t.Ref, o), th.Dim.Text(more))
}

// ownerFacts describes an owner with everything that distinguishes it from others.
func ownerFacts(sc *screen.Scene, ref sources.Ref, o *sources.Owner) []paint.Part {
	th := &sc.Theme
	label, us := paint.Plain(paint.CleanLabel(o.Label)), th.Accent.Text(paint.When(screen.IsOurs(sc, ref, o), screen.Us))
	parts := append([]paint.Part{label, us, paint.Plain(" ")}, th.ForAge(o.Since, sc.Now)...)
	parts = append(parts, th.Dim.Text(paint.When(o.Mode == sources.Shared, "  "+o.Mode.String())))
	if o.Permits > 1 {
		parts = append(parts, th.Dim.Text("  permits "), paint.Plain(format.Count(int(sources.Permits(o.Permits)))))
	}
	return append(parts, th.Dim.Text(paint.When(o.Fence != 0, "  fence ")), paint.Plain(screen.Fence(o.Fence)),
		th.Dim.Text("  lease "), screen.LeaseText(sc, o, verdict.Verdict{}))
}

// boxQueue describes the queue: its length and the waiters that are served next.
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
	who, comes, together := paint.CleanLabel(next[0].Label), "comes first", ""
	if more := len(next) - 1; more > 0 {
		who, comes, together = who+" and "+format.Count(more)+" more", "come first", ", together"
	}
	if comes += together; q.How == sources.Inferred {
		comes = "probably first" + together + " (inferred)"
	}
	parts := append([]paint.Part{paint.Plain(format.Count(q.Len) + ": " + who)}, sc.Theme.ForAge(next[0].Since, sc.Now)...)
	return append(parts, th.Accent.Text("  "+th.Arrow+" "+comes))
}

// effects describes what the action would do, or why that is unknown.
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

// form draws the fields and the buttons. It sets the cursor in p, relative to its own first line.
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
		st, name := th.Dim, strings.TrimRight(label, " ")
		if f.focused && !b.gone {
			st = th.Selected
		}
		for _, s := range drawn {
			lines = append(lines, th.Line(format.Width(label)).Put(st, name).Done()+s)
			name = ""
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

// refusal returns the reason of the operator for a refusal, and the hint about lost text.
func (b *box) refusal(a *Acting, w int) []string {
	lines := append(a.Theme.Wrapped(a.Theme.Warn, b.hint, w), a.Theme.Wrapped(a.Theme.Bad, b.refused, w)...)
	if b.writing && b.question() { // boxes with buttons show it beside the button
		lines = append(lines, a.Theme.Line(w).Put(a.Theme.Dim, writingAudit).Done())
	}
	return lines
}

// label returns the label of a field; all labels except that of the name have the same width.
func (b *box) label(f *field) string {
	text := fieldNames[f.kind]
	if f.kind == fieldName && b.effect.NeedsName != paint.Clean(b.request.Target.Ref.Name) {
		text = format.Fit("type "+paint.Clean(b.effect.NeedsName)+" to confirm", 40)
	}
	return format.Fit(text, max(boxLabel, format.Width(text)+2))
}

// wayOut draws the keys that replace the buttons after the row has changed.
func (b *box) wayOut(a *Acting, w int) string {
	l := a.Theme.Line(w).Skip(2)
	if b.row != nil {
		l.Put(a.Theme.Strong, a.Keys.KeyIn(keys.InChanged, keys.Anew)).Put("", "  decide anew").Skip(6)
	}
	return l.Put(a.Theme.Strong, a.Keys.KeyIn(keys.InChanged, keys.Cancel)).Put("", "  cancel").Done()
}

// buttons draws Cancel and the button with the verb, which is dimmed while something is missing.
func (b *box) buttons(a *Acting, w int) string {
	th := &a.Theme
	missing, marks := b.missing(), [2]string{" ", " "}
	cancel, act := paint.Style(""), paint.When(missing != "", th.Dim)
	switch b.focus - len(b.fields) {
	case buttonCancel:
		cancel, marks[0] = th.Selected, th.Cursor
	case buttonAct:
		act, marks[1] = th.Selected, th.Cursor
	}
	l := th.Line(w).Skip(max((w-40)/3, 0)).Put(cancel, marks[0]+"Cancel ").Skip(8)
	l.Put(act, marks[1]+verbButton(b.request.Verb)+" ")
	switch {
	case missing != "":
		l.Put(th.Dim, " ("+missing+")")
	case b.focus != len(b.fields)+buttonAct:
		n := len(b.fields) + buttonAct - b.focus
		key := a.Keys.KeyIn(keys.InBox, keys.NextField) + paint.When(n > 1, " "+paint.Count(n, "time"))
		l.Put(th.Dim, " ("+key+" goes here)")
	}
	return l.Done()
}
