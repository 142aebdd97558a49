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

// HelpLine is a line of the help. A line with a binding can be run.
type HelpLine struct {
	Title   string       // of a section; the other fields are empty then
	Keys    paint.Part   // or a sign, or the name of a topic; "": the text takes the whole line
	Text    string       // the meaning
	ID      string       // of the intent, in the first line that has it
	Binding keys.Binding // its intent is "" for signs
	Topic   string       // the topic that the line belongs to
}

// section is a part of the help.
type section struct {
	title   string
	context keys.Context
}

// sections returns the parts of the key table in the order of the help: those of the views first.
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

// HelpLines returns the lines of the help that contain all typed words: the signs, then the keys,
// those of the screen from which the help was opened first, then the topics, whose texts are included
// only if words are typed. An open topic is shown alone.
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
	add("SIGNS (type to search them, all keys and the topics)", helpSigns(sc))
	seen := map[string]int{}
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
			t.Text, _, _ = strings.Cut(t.Text, "\n## All keys\n") // they are listed above
			lines = append(lines, topicLines(sc, t, words)...)
		}
	}
	return lines
}

// topicLines returns the parts of a topic that contain all words, below their headings.
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

// BoolInt returns 1 for true, 0 for false.
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

// lines returns the lines of a section, each intent once, without lines that are in seen, and adds
// them to it. A key that works on all screens is in the section of all screens only.
func (s section) lines(table []keys.Binding, seen map[string]int) []HelpLine {
	first := func(text string) bool {
		seen[text]++
		return seen[text] == 1
	}
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
	lines = slices.DeleteFunc(lines, func(l HelpLine) bool { return !first(string(l.Binding.Intent) + ": " + l.Text + l.Keys.Text) })
	for i := range lines {
		if id := string(lines[i].Binding.Intent); first(id) {
			lines[i].ID = id
		}
	}
	return lines
}

// Behind returns the key context of the screen from which the help was opened.
func Behind(sc *Scene) keys.Context {
	if n := len(sc.Trail); n > 0 {
		return sc.Trail[n-1].KeyContext()
	}
	return keys.InLocks
}

// helpKeys is the number of cells for the keys.
const helpKeys = 18

// helpScreen draws the part of the help around its cursor.
func helpScreen(sc *Scene) Frame {
	w, h := sc.Layout.Width, sc.Layout.Body()
	th, all := &sc.Theme, HelpLines(sc, sc.Command.Text)
	f := Frame{Scroll: sc.Scroll, HelpAt: max(0, min(sc.HelpAt, len(all)-1))}
	h = max(h-1, 0) // the last line counts the lines below
	f.Scroll = max(0, min(f.Scroll, f.HelpAt), f.HelpAt-h+1)
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

// Cells returns the width of a line of the help without its intent.
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

// MoveHelp returns the line to which an intent moves the cursor of the help from at; it skips titles.
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

// HelpLineAt returns the line of the help under the cursor; an empty one behind the last.
func HelpLineAt(sc *Scene, text string, at int) HelpLine {
	if all := HelpLines(sc, text); at < len(all) {
		return all[at]
	}
	return HelpLine{}
}

// helpSigns explains the signs.
func helpSigns(sc *Scene) []HelpLine {
	th, limits := &sc.Theme, &sc.State.Thresholds
	bars := strings.Repeat
	return []HelpLine{
		{Keys: th.Bad.Text(th.Marks[verdict.Bad]), Text: "needs a person: a leader was lost, or there is none for " + format.Precise(limits.NoLeader) + "; two owners; a wait of " + format.Precise(limits.WaitPerson)},
		{Keys: th.Warn.Text(th.Marks[verdict.Warn]), Text: "worth a look: renewed late, flapping, no end, a wait of " + format.Precise(limits.Wait)},
		{Keys: th.Dim.Text(th.Marks[verdict.Well]), Text: "owned: normal life"},
		{Keys: th.Dim.Text(th.Marks[verdict.Free]), Text: "free, or between two owners: normal life"},
		{Keys: th.Dim.Text(th.Marks[verdict.Blind]), Text: "not known: its source is silent, or nothing was read yet"},
		{Keys: th.Accent.Text(th.Pending), Text: "an action of ours is under way"},
		{Keys: paint.Plain("?"), Text: "not told by this backend, or not yet; never a zero"},
		{Keys: paint.Plain(th.AtLeast + "3h"), Text: "at least: it was so already when we first looked, or at the later of two looks"},
		{Keys: paint.Plain(th.AtMost + "3h"), Text: "at most: it cannot have begun earlier"},
		{Keys: paint.Plain(th.About + "12:40:26"), Text: "it happened between two looks: not told, but seen in the stretch given as \"within\""},
		{Keys: paint.Plain(th.About + "released"), Text: "inferred from what was seen, not told by the server"},
		{Keys: paint.Plain(th.About + "3h"), Text: "about: it began or ended between two looks that were a second or more apart"},
		{Keys: paint.Plain("3 problems, 1 source down"), Text: sc.Keys.KeyOf(keys.Problems) + " shows the 3; rows of a source that is down count as what they were last"},
		{Keys: paint.Plain("worst first, held"), Text: "rows keep their places while the cursor moves, and for " + format.Precise(HoldTime) + " after"},
		{Keys: paint.Plain("(3h)"), Text: "by the owner's own word and clock"},
		{Keys: th.OwnerLetter(0).Text("A" + bars(th.Run, 3)), Text: "owner A; the letter and its colour are the same in list, pane and events"},
		{Keys: th.OwnerLetter(0).Text(th.RunLeft + " " + th.RunRight), Text: "on the Timeline: an owner's time ends, or begins, in the middle of a column"},
		{Keys: th.Alarm.Text(th.Crisis), Text: "nobody led for longer than " + format.Precise(limits.Gap) + " and than " + strconv.Itoa(int(math.Round(100*limits.GapPart))) + "% of the column"},
		{Keys: th.Bad.Text(bars(th.Outage, 3)), Text: "the same for many columns: a line between two red ends"},
		{Keys: th.Alarm.Text(th.Two), Text: "several own what only one may own"},
		{Keys: th.Dim.Text(th.Break), Text: "nobody led for a moment: a hand-over"},
		{Keys: th.Dim.Text(bars(th.Dark, 4)), Text: "not observed, or not recorded"},
		{Keys: th.Dim.Text(th.Unknown + bars(th.Unread, 3)), Text: "on the Timeline: the recording of it is being read, or could not be read"},
		{Keys: th.Dim.Text(bars(th.Idle, 4)), Text: "free"},
		{Keys: th.Dim.Text(bars(th.Dot, 4)), Text: "absent: it does not exist"},
		{Keys: th.Dim.Text(th.Levels[1] + th.Levels[4] + th.Levels[6]), Text: "a semaphore: the most permits that were taken in a column"},
		{Keys: th.Warn.Text(bars(th.Full, 3)), Text: "no permit was left, and somebody waits; without a colour nobody does"},
		{Keys: th.Good.Text(th.Eighths[6] + th.Eighths[5] + th.Eighths[4] + th.Eighths[6]), Text: "a lease: the lowest that was left in a column; every renewal lifts it"},
		{Keys: th.Notice.Text(th.Acted), Text: "an action of ours; " + sc.Keys.KeyOf(keys.Audit) + " lists those of all"},
		{Keys: th.Accent.Text("M"), Text: "on the Timeline: a note; " + th.Down + " a source that was down, R a server that was restarted, C the clock was set, S coordtop was started"},
		{Keys: th.Strong.Text(th.Many), Text: "more changes than fit in a column"},
	}
}
