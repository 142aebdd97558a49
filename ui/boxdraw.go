package ui

import (
	"slices"
	"strings"

	"coordtop/internal/action"
	"coordtop/internal/format"
	"coordtop/sources"
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
	}
	return verbButton(v)
}

// verbButton is the word on the button: the verb.
func verbButton(v action.Verb) string {
	s := v.String()
	return strings.ToUpper(s[:1]) + s[1:]
}

func (b *box) picture(m *model, w, h int) picture {
	p := picture{danger: b.described && b.effect.Danger, note: b.note()}
	facts := b.facts(m, w)
	form := b.form(m, w, dataLines, true, &p)
	if len(b.fields) > 0 {
		facts = append(facts, gap)
	}
	if len(facts)+len(form) > h {
		form = b.form(m, w, 1, true, &p)
	}
	facts = squeezed(facts, len(facts)+len(form)-h)
	if len(facts)+len(form) > h {
		form = b.form(m, w, 1, false, &p)
	}
	for i := range facts {
		if facts[i] == gap {
			facts[i] = m.th.line(w).done()
		}
	}
	if room := max(h-len(form), 0); len(facts) > room {
		b.top = max(min(b.top, len(facts)-room+1), 0)
		facts = m.window(facts, b.top, room, w)
	} else {
		b.top = 0
	}
	p.y += len(facts)
	p.lines = append(facts, form...)
	p.lines = p.lines[:min(len(p.lines), max(h, 0))]
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

// window is h of the lines from top on; its last line says where the rest is.
func (m *model) window(lines []string, top, h, w int) []string {
	if h < 2 {
		return lines[:min(h, len(lines))]
	}
	shown := append([]string(nil), lines[top:min(top+h-1, len(lines))]...)
	return append(shown, m.th.line(w).put(m.th.warn, "pgup pgdown").put(m.th.dim, " show "+count(len(lines)-len(shown), "more line")).done())
}

// facts are what the person decides on: the target as it is, what would happen to it, and
// what is sent for that.
func (b *box) facts(m *model, w int) []string {
	th, t := &m.th, &b.request.Target
	tail := []part{{th.strong, " in "}, {th.warn, clean(t.Ref.Source)}, {"", ", "}, {th.title, m.title}}
	title := th.line(w).put(th.strong, boxTitle(b.request.Verb)+" ")
	title.put(th.strong, th.fitName(clean(t.Ref.Name), max(w-title.x-partsWidth(tail), 8)))
	for _, p := range tail {
		title.put(p.st, p.text)
	}
	lines := []string{title.done()}
	say := func(label string, parts ...part) {
		l := th.line(w).cell(th.dim, label, boxLabel)
		for _, p := range parts {
			l.put(p.st, p.text)
		}
		lines = append(lines, l.done())
	}
	lines = append(lines, gap)
	say("lock", b.lock(m)...)
	say("owner", b.owner(m)...)
	if b.row != nil {
		say("waiting", m.boxQueue(b.row)...)
	}
	if text := b.changedText(); text != "" {
		lines = append(lines, gap)
		for _, s := range folded(text+"; nothing will be sent", w) {
			lines = append(lines, th.line(w).put(th.bad, s).done())
		}
		if b.gone || b.row == nil {
			return lines // what it would do is about another row
		}
	}
	lines = append(append(lines, gap), b.effects(m, w)...)
	if b.effect.Call != "" {
		lines = append(append(lines, gap), labelled(th, "runs", clean(b.effect.Call), w)...)
	}
	if b.effect.Next != "" {
		lines = append(lines, labelled(th, "next", clean(b.effect.Next), w)...)
	}
	return lines
}

// labelled is a label with text over as many lines as it needs.
func labelled(th *theme, label, text string, w int) []string {
	var lines []string
	for _, s := range folded(text, w-boxLabel) {
		lines = append(lines, th.line(w).cell(th.dim, label, boxLabel).put("", s).done())
		label = ""
	}
	return lines
}

func (b *box) lock(m *model) []part {
	t := &b.request.Target
	parts := []part{{"", clean(t.Ref.Name)}}
	if b.row != nil {
		where := slices.DeleteFunc(m.place(b.row), func(s string) bool { return s == clean(t.Ref.Source) })
		return append(parts, part{m.th.dim, "   " + strings.Join(where, " "+m.th.dot+" ")})
	}
	return append(parts, part{m.th.dim, "   " + t.Kind.String()})
}

// owner is who owns it now: the one that the action is about where that is still one of them.
func (b *box) owner(m *model) []part {
	th, t := &m.th, &b.request.Target
	if b.row == nil {
		return []part{{th.dim, "?  " + notListed}}
	}
	if len(b.row.Owners) == 0 {
		parts := []part{{th.dim, "nobody"}}
		if !b.row.Nobody.At.IsZero() {
			parts = append(parts, m.forAge(b.row.Nobody)...)
		}
		return parts
	}
	o := &b.row.Owners[0]
	for i := range b.row.Owners {
		if b.row.Owners[i].ID == t.Owner {
			o = &b.row.Owners[i]
		}
	}
	parts := []part{{"", cleanLabel(o.Label)}}
	if m.ours(t.Ref, o) {
		parts = append(parts, part{th.accent, us})
	}
	parts = append(append(parts, part{"", " "}), m.forAge(o.Since)...)
	if o.Mode == sources.Shared {
		parts = append(parts, part{th.dim, "  " + o.Mode.String()})
	}
	if o.Fence != 0 {
		parts = append(parts, part{th.dim, "  fence "}, part{"", fence(o.Fence)})
	}
	parts = append(parts, part{th.dim, "  lease "}, m.leaseText(o, verdict{}))
	if n := len(b.row.Owners); n > 1 {
		parts = append(parts, part{th.dim, "  and " + count(n-1, "more owner")})
	}
	return parts
}

// boxQueue is the queue in a line: the first one who waits is who comes next.
func (m *model) boxQueue(row *sources.Row) []part {
	th, q := &m.th, &row.Queue
	switch {
	case q.How == sources.Unknown:
		return []part{{"", "?"}, {th.dim, "  this backend tells no queue"}}
	case q.Len == 0:
		return []part{{th.dim, "nobody"}}
	case len(q.Waiters) == 0:
		return []part{{"", format.Count(q.Len)}}
	}
	next := q.Next()
	who, comes := cleanLabel(next[0].Label), "comes first"
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
	parts := append([]part{{"", format.Count(q.Len) + ": " + who}}, m.forAge(next[0].Since)...)
	return append(parts, part{th.accent, "  " + th.arrow + " " + comes})
}

// effects says what would happen, or why that is not known.
func (b *box) effects(m *model, w int) []string {
	th := &m.th
	var lines []string
	if !b.described {
		return []string{th.line(w).put(th.dim, "asking "+clean(b.request.Target.Ref.Source)+" what this would do, for at most 5 s").done()}
	}
	if b.err != nil {
		for _, s := range folded("cannot say what this would do: "+format.Clean(b.err.Error(), 2000), w) {
			lines = append(lines, th.line(w).put(th.bad, s).done())
		}
		return lines
	}
	for i, text := range b.effect.Lines {
		if i == 0 {
			for _, s := range folded(clean(text), w) {
				lines = append(lines, th.line(w).put(th.strong, s).done())
			}
			continue
		}
		st, mark := th.dim, th.bullet
		if b.effect.Danger {
			st = th.bad
		}
		for _, s := range folded(clean(text), w-4) {
			lines = append(lines, th.line(w).skip(2).cell(st, mark, 2).put("", s).done())
			mark = ""
		}
	}
	return lines
}

// form is the fields and the buttons. It notes the cursor in p, counted from its own top.
func (b *box) form(m *model, w, dataHeight int, air bool, p *picture) []string {
	th := &m.th
	p.cursor, p.y = false, 0
	var lines []string
	if b.question() && !b.gone {
		lines = append(lines, b.refusal(m, w)...)
		return append(lines, th.line(w).done(), m.yesNo(w, b.request.Verb.String(), "no"))
	}
	for i, f := range b.fields {
		label := th.cut(b.label(f), w/2)
		h := 1
		if f.kind == fieldData {
			h = dataHeight
		}
		drawn, x, y := f.draw(th, w-format.Width(label), h)
		if i == b.focus && !b.gone {
			p.x, p.y, p.cursor = format.Width(label)+x, len(lines)+y, true
		}
		for _, s := range drawn {
			lines = append(lines, th.line(format.Width(label)).put(th.dim, label).done()+s)
			label = strings.Repeat(" ", format.Width(label))
		}
		if f.note != "" {
			lines = append(lines, th.line(w).skip(boxLabel).put(th.warn, f.note).done())
		}
	}
	lines = append(lines, b.refusal(m, w)...)
	if air {
		lines = append(lines, th.line(w).done())
	}
	if b.gone {
		return append(lines, b.wayOut(m, w))
	}
	return append(lines, b.buttons(m, w))
}

// wayOut stands instead of the buttons where the row has changed.
func (b *box) wayOut(m *model, w int) string {
	l := m.th.line(w).skip(2)
	if b.row != nil {
		l.put(m.th.strong, m.keyIn(inChanged, doAnew)).put("", "  decide anew").skip(6)
	}
	return l.put(m.th.strong, m.keyIn(inChanged, doCancel)).put("", "  cancel").done()
}

// refusal is why the operator did not begin, or where what was typed did not go.
func (b *box) refusal(m *model, w int) []string {
	var lines []string
	for _, s := range folded(b.hint, w) {
		lines = append(lines, m.th.line(w).put(m.th.warn, s).done())
	}
	for _, s := range folded(b.refused, w) {
		lines = append(lines, m.th.line(w).put(m.th.bad, s).done())
	}
	if b.writing && b.question() { // a box says it beside its button
		lines = append(lines, m.th.line(w).put(m.th.dim, writingAudit).done())
	}
	return lines
}

// label stands before a field; all but that of the name are of one width.
func (b *box) label(f *field) string {
	text := ""
	switch f.kind {
	case fieldMode:
		text = "mode"
	case fieldData:
		text = "data"
	case fieldPermits:
		text = "permits"
	case fieldLimit:
		text = "limit"
	case fieldWait:
		text = "wait"
	case fieldReason:
		text = "reason"
	case fieldName:
		text = "type the name to confirm"
		if b.effect.NeedsName != clean(b.request.Target.Ref.Name) {
			text = format.Fit("type "+clean(b.effect.NeedsName)+" to confirm", 40)
		}
	}
	return format.Fit(text, max(boxLabel, format.Width(text)+2))
}

func (b *box) buttons(m *model, w int) string {
	th := &m.th
	cancel, act := style(""), style("")
	marks := [2]string{" ", " "}
	missing := b.missing()
	if missing != "" {
		act = th.dim
	}
	switch b.focus - len(b.fields) {
	case buttonCancel:
		cancel, marks[0] = th.selected, th.cursor
	case buttonAct:
		act, marks[1] = th.selected, th.cursor
	}
	l := th.line(w).skip(max((w-40)/3, 0)).put(cancel, marks[0]+"Cancel ").skip(8)
	l.put(act, marks[1]+verbButton(b.request.Verb)+" ")
	if missing != "" {
		l.put(th.dim, " ("+missing+")")
	}
	return l.done()
}
