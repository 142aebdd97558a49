package screen

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/internal/help"
	"coordtop/sources/verdict"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// HelpLine is a line of the help. One of the key table can be run.
type HelpLine struct {
	Title   string       // of a section: then there is no more
	Keys    paint.Part   // or a sign, or the name of a topic; "": the text takes the whole line
	Text    string       // what it does or means
	ID      string       // of the intent, where it is named first
	Binding keys.Binding // its intent is "" for signs
	Topic   string       // of the reference that it is a line of
}

// section is a part of the help.
type section struct {
	title   string
	context keys.Context
}

// sections are the parts of the key table, in the order of the help: those of the views first.
func sections() []section {
	parts := []section{{"EVERYWHERE", keys.InScreens}}
	for _, v := range viewTable() {
		if v.help != "" {
			parts = append(parts, section{v.help, v.context})
		}
	}
	return append(parts, []section{{"IN THE PAST", keys.InReplay}, {"COMMANDS AND TYPING THEM", keys.InCommand}, {"WHILE TYPING A FILTER", keys.InInput}, {"IN THIS HELP", keys.InHelp | keys.InHelpText},
		{"MENU OF ORDERS", keys.InSort}, {"MENU OF WINDOWS", keys.InWindow}, {"MENU OF LANES", keys.InLaneSort}, {"MENU OF COPIES", keys.InCopy}, {"MENU OF EXPORTS", keys.InExport}, {"MENU OF EXPORTS OF THE TIMELINE", keys.InPicture}, {"QUITTING WITH THE SCREEN LEFT AS TEXT", keys.InKeep},
		{"ACTIONS OF A ROW", keys.InMenu}, {"ONE ACTION", keys.InBox}, {"AN ACTION WHOSE ROW HAS CHANGED", keys.InChanged}, {"YES OR NO", keys.InQuestion},
		{"QUITTING WHILE WE HOLD SOMETHING", keys.InLeave}}...)
}

// HelpLines are the key table and what the signs mean, as far as all the words typed
// are in them. The signs stand first, then what works on the screen that the help was opened
// from, last the topics: what they say only if words are typed. An open topic stands alone.
func HelpLines(sc *Scene, text string) []HelpLine {
	var lines []HelpLine
	words := strings.Fields(strings.ToLower(text))
	if t, ok := help.Find(sc.Topic); ok {
		return topicLines(sc, t, words)
	}
	add := func(title string, list []HelpLine) {
		list = slices.DeleteFunc(list, func(l HelpLine) bool { return !l.holds(words) })
		if len(list) > 0 {
			lines = append(append(lines, HelpLine{Title: title}), list...)
		}
	}
	parts := sections()
	here := Behind(sc)
	if i := slices.IndexFunc(parts, func(s section) bool { return s.context == here }); i >= 0 {
		parts = slices.Concat(parts[i:i+1], parts[:i], parts[i+1:])
	}
	var signs []HelpLine
	for _, s := range helpSigns(sc) {
		signs = append(signs, HelpLine{Keys: s[0], Text: s[1].Text})
	}
	add("SIGNS (type to search them, all keys and the topics)", signs)
	seen := shown{}
	for _, s := range parts {
		add(s.title, s.lines(sc.Keys, seen))
	}
	var list []HelpLine
	for _, t := range help.Topics() {
		list = append(list, HelpLine{Keys: paint.Plain(t.Name), Text: t.Title, Topic: t.Name})
	}
	add("TOPICS", list)
	for _, t := range help.Topics() {
		if len(words) > 0 {
			t.Text, _, _ = strings.Cut(t.Text, "\n## All keys\n") // they stand above
			lines = append(lines, topicLines(sc, t, words)...)
		}
	}
	return lines
}

// topicLines are the parts of a topic that hold all the words, below their headings.
func topicLines(sc *Scene, t help.Topic, words []string) []HelpLine {
	var lines []HelpLine
	plain := func(text string) string { return text }
	for _, b := range t.Search(words) {
		if b.Kind == help.Heading {
			lines = append(lines, HelpLine{Title: "TOPIC " + b.Cells[0]})
			continue
		}
		for _, line := range b.Lines(min(sc.Layout.Width-4, 100), plain) {
			lines = append(lines, HelpLine{Text: line, Topic: t.Name})
		}
	}
	return lines
}

// BoolInt is 1 for true.
func BoolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l *HelpLine) holds(words []string) bool {
	text := strings.ToLower(l.Keys.Text + " " + l.Text + " " + string(l.Binding.Intent))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// shown is what the help has listed already: nothing is said twice.
type shown map[string]bool

// first reports whether a text was not listed before.
func (s shown) first(text string) bool {
	defer func() { s[text] = true }()
	return !s[text]
}

// lines are the rows of a section, each intent once. A key that works on all screens stands
// in the section for those alone.
func (s section) lines(table []keys.Binding, seen shown) []HelpLine {
	var lines []HelpLine
	for _, b := range table {
		if b.Context&s.context == 0 || (b.Context&keys.InScreens == keys.InScreens) != (s.context == keys.InScreens) {
			continue
		}
		if i := slices.IndexFunc(lines, func(l HelpLine) bool { return l.Binding.Intent == b.Intent }); i >= 0 {
			lines[i].Keys.Text += " " + strings.Join(b.Keys, " ")
			continue
		}
		lines = append(lines, HelpLine{Keys: paint.Part{Text: strings.Join(b.Keys, " ")}, Text: b.Help, Binding: b})
	}
	lines = slices.DeleteFunc(lines, func(l HelpLine) bool { return !seen.first(string(l.Binding.Intent) + ": " + l.Text + l.Keys.Text) })
	for i := range lines {
		if id := string(lines[i].Binding.Intent); seen.first(id) {
			lines[i].ID = id
		}
	}
	return lines
}

// Behind is the context of the keys of the screen that the help was opened from.
func Behind(sc *Scene) keys.Context {
	if n := len(sc.Trail); n > 0 {
		return sc.Trail[n-1].KeyContext()
	}
	return keys.InLocks
}

// helpKeys is how many cells the keys take.
const helpKeys = 18

// helpScreen draws the part of the help around its cursor.
func helpScreen(sc *Scene) Frame {
	w, h := sc.Layout.Width, sc.Layout.Body()
	th, all := &sc.Theme, HelpLines(sc, sc.Command.Text)
	f := Frame{Scroll: sc.Scroll, HelpAt: max(0, min(sc.HelpAt, len(all)-1))}
	h = max(h-1, 0) // the last line says what follows
	f.Scroll = min(f.Scroll, f.HelpAt)
	f.Scroll = max(0, f.Scroll, f.HelpAt-h+1)
	if f.HelpAt <= 1 {
		f.Scroll = 0 // with the title of the section
	}
	var lines []string
	for i := f.Scroll; i < min(f.Scroll+h, len(all)); i++ {
		lines = append(lines, drawHelpLine(th, all[i], w, i == f.HelpAt))
	}
	if len(all) == 0 {
		lines = append(lines, th.Line(w).Skip(2).Put(th.Dim, "nothing in the help holds these words").Done())
	}
	lines = th.Box(lines, w, h)
	last := th.Line(w).Skip(2)
	if more := len(all) - f.Scroll - h; more > 0 {
		last.Put(th.Dim, paint.Count(more, "more line")+" below").Skip(2)
	}
	if len(all) > 0 && all[f.HelpAt].Cells() > w {
		last.Put("", all[f.HelpAt].Text)
	}
	f.Lines = append(lines, last.Done())
	return f
}

// Cells is how many cells a line of the help takes without its intent.
func (l *HelpLine) Cells() int {
	if l.Keys.Text == "" {
		return 2 + format.Width(l.Text)
	}
	return 3 + max(helpKeys, format.Width(l.Keys.Text)) + format.Width(l.Text)
}

func drawHelpLine(th *paint.Theme, h HelpLine, w int, selected bool) string {
	l := th.Line(w)
	if h.Title != "" {
		return l.Skip(1).Put(th.Heading, h.Title).Done()
	}
	st := h.Keys.Style
	if h.Binding.Intent != "" || h.Topic != "" {
		st = th.Strong
	}
	if l.Cursor(selected).Skip(1); h.Keys.Text != "" {
		l.Cell(st, h.Keys.Text, max(helpKeys, format.Width(h.Keys.Text))).Skip(1)
	}
	l.Put("", h.Text)
	if l.X+2+len(h.ID) < w {
		l.Put(th.Dim, "  "+h.ID)
	}
	return l.Done()
}

// MoveHelp is where an intent moves the cursor of the help from at; titles are passed over.
func MoveHelp(sc *Scene, text string, at int, i keys.Intent) int {
	all, from := HelpLines(sc, text), at
	at = min(Scroll(at, i, sc.Layout.Body()-1), max(len(all)-1, 0))
	step := 1
	if at < from {
		step = -1
	}
	for n := 0; n < 2 && at >= 0 && at < len(all) && all[at].Title != ""; n++ {
		if at+step < 0 {
			step = 1
		}
		at += step
	}
	return at
}

// HelpLineAt is the line of the help under the cursor; an empty one where there is none.
func HelpLineAt(sc *Scene, text string, at int) HelpLine {
	if all := HelpLines(sc, text); at < len(all) {
		return all[at]
	}
	return HelpLine{}
}

// helpSigns explains what is drawn.
func helpSigns(sc *Scene) [][2]paint.Part {
	th, limits := &sc.Theme, &sc.State.Thresholds
	bars := strings.Repeat
	return [][2]paint.Part{
		{th.Bad.Text(th.Marks[verdict.Bad]), paint.Plain("needs a person: a leader was lost, or there is none for " + format.Precise(limits.NoLeader) + "; two owners; a wait of " + format.Precise(limits.WaitPerson))},
		{th.Warn.Text(th.Marks[verdict.Warn]), paint.Plain("worth a look: renewed late, flapping, no end, a wait of " + format.Precise(limits.Wait))},
		{th.Dim.Text(th.Marks[verdict.Well]), paint.Plain("owned: normal life")},
		{th.Dim.Text(th.Marks[verdict.Free]), paint.Plain("free, or between two owners: normal life")},
		{th.Dim.Text(th.Marks[verdict.Blind]), paint.Plain("not known: its source is silent, or nothing was read yet")},
		{th.Accent.Text(th.Pending), paint.Plain("an action of ours is under way")},
		{paint.Plain("?"), paint.Plain("not told by this backend, or not yet; never a zero")},
		{paint.Plain(th.AtLeast + "3h"), paint.Plain("at least: it was so already when we first looked, or at the later of two looks")},
		{paint.Plain(th.AtMost + "3h"), paint.Plain("at most: it cannot have begun earlier")},
		{paint.Plain(th.About + "12:40:26"), paint.Plain("it happened between two looks: not told, but seen in the stretch given as \"within\"")},
		{paint.Plain(th.About + "released"), paint.Plain("inferred from what was seen, not told by the server")},
		{paint.Plain(th.About + "3h"), paint.Plain("about: it began or ended between two looks that were a second or more apart")},
		{paint.Plain("3 problems, 1 source down"), paint.Plain(sc.Keys.KeyOf(keys.Problems) + " shows the 3; rows of a source that is down count as what they were last")},
		{paint.Plain("worst first, held"), paint.Plain("rows keep their places while the cursor moves, and for " + format.Precise(HoldTime) + " after")},
		{paint.Plain("(3h)"), paint.Plain("by the owner's own word and clock")},
		{th.OwnerLetter(0).Text("A" + bars(th.Run, 3)), paint.Plain("owner A; the letter and its colour are the same in list, pane and events")},
		{th.OwnerLetter(0).Text(th.RunLeft + " " + th.RunRight), paint.Plain("on the Timeline: an owner's time ends, or begins, in the middle of a column")},
		{th.Alarm.Text(th.Crisis), paint.Plain("nobody led for longer than " + format.Precise(limits.Gap) + " and than " + strconv.Itoa(int(math.Round(100*limits.GapPart))) + "% of the column")},
		{th.Alarm.Text(th.Two), paint.Plain("several own what only one may own")},
		{th.Dim.Text(th.Break), paint.Plain("nobody led for a moment: a hand-over")},
		{th.Dim.Text(bars(th.Dark, 4)), paint.Plain("not observed, or not recorded")},
		{th.Dim.Text(th.Unknown + bars(th.Unread, 3)), paint.Plain("on the Timeline: the recording of it is being read, or could not be read")},
		{th.Dim.Text(bars(th.Idle, 4)), paint.Plain("free")},
		{th.Dim.Text(bars(th.Dot, 4)), paint.Plain("absent: it does not exist")},
		{th.Dim.Text(th.Levels[1] + th.Levels[4] + th.Levels[6]), paint.Plain("a semaphore: the most permits that were taken in a column")},
		{th.Warn.Text(bars(th.Full, 3)), paint.Plain("no permit was left")},
		{th.Good.Text(th.Eighths[6] + th.Eighths[5] + th.Eighths[4] + th.Eighths[6]), paint.Plain("a lease: the lowest that was left in a column; every renewal lifts it")},
		{th.Notice.Text(th.Acted), paint.Plain("an action of ours; " + sc.Keys.KeyOf(keys.Audit) + " lists those of all")},
		{th.Accent.Text("M"), paint.Plain("on the Timeline: a note; " + th.Down + " a source that was down, R a server that was restarted, C the clock was set, S coordtop was started")},
		{th.Strong.Text(th.Many), paint.Plain("more changes than fit in a column")},
	}
}
