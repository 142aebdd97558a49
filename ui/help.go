package ui

import (
	"strings"

	"coordtop/internal/format"
)

// helpText is the key table and what the signs mean.
func (m *model) helpText(w int) []string {
	th := &m.th
	lines := []string{th.line(w).done()}
	section := func(title string, s scope) {
		lines = append(lines, th.line(w).skip(1).put(th.heading, title).done())
		for _, a := range bindings() {
			if a.scope&s == 0 || s != inViews && a.scope&inViews == inViews || s == inViews && a.scope&inViews != inViews {
				continue
			}
			l := th.line(w).skip(2).cell(th.strong, strings.Join(a.keys, " "), 16).skip(1)
			lines = append(lines, l.put("", a.help).put(th.dim, "  "+string(a.intent)).done())
		}
		lines = append(lines, th.line(w).done())
	}
	section("EVERYWHERE", inViews)
	section("LIST", inList)
	section("ONE ROW", inDetail)
	section("EVENTS", inEvents)
	section("SOURCES", inSources)
	section("WHILE TYPING A FILTER", inInput)
	section("ACTIONS OF A ROW", inMenu)
	section("ONE ACTION", inBox)
	section("YES OR NO", inQuestion)
	section("QUITTING WHILE WE HOLD SOMETHING", inLeave)
	lines = append(lines, th.line(w).skip(1).put(th.heading, "SIGNS").done())
	for _, s := range m.signs() {
		lines = append(lines, th.line(w).skip(2).cell(s[0].st, s[0].text, 16).skip(1).put("", s[1].text).done())
	}
	return lines
}

// signs explains what is drawn.
func (m *model) signs() [][2]part {
	th := &m.th
	bars := strings.Repeat
	return [][2]part{
		{{th.bad, th.marks[sevBad]}, {"", "no leader, two owners, or renewed late and flapping"}},
		{{th.warn, th.marks[sevWarn]}, {"", "renewed late, owner silent, flapping, or a wait of more than " + format.Precise(longWait)}},
		{{th.dim, th.marks[sevWell]}, {"", "owned, all is well"}},
		{{th.dim, th.marks[sevFree]}, {"", "free, which is no trouble"}},
		{{th.dim, th.marks[sevBlind]}, {"", "not known: its source is silent, or nothing was read yet"}},
		{{th.accent, th.pending}, {"", "an action of ours is under way"}},
		{{"", "?"}, {"", "not told by this backend; never a zero"}},
		{{"", th.atLeast + "3h"}, {"", "at least: it was so already when we first looked"}},
		{{"", th.atMost + "3h"}, {"", "at most: it cannot have begun earlier"}},
		{{"", th.about + "12:40:26"}, {"", "it happened between two looks: not told, but seen in the stretch given as \"within\""}},
		{{"", th.about + "released"}, {"", "inferred from what was seen, not told by the server"}},
		{{"", th.about + "3h"}, {"", "the take-over lies between two looks that were a second or more apart"}},
		{{"", "3 problems, 1 source down"}, {"", "! shows the 3; rows of a source that is down are old and cannot be judged"}},
		{{"", "(3h)"}, {"", "by the owner's own word and clock"}},
		{{th.ownerLetter(0), "A" + bars(th.run, 3)}, {"", "owner A; the letter and its colour are the same in list, pane and events"}},
		{{th.alarm, th.crisis}, {"", "nobody led in this column"}},
		{{th.dim, bars(th.dark, 4)}, {"", "not observed"}},
		{{th.dim, bars(th.idle, 4)}, {"", "free"}},
		{{th.strong, th.many}, {"", "more changes than fit in a column"}},
	}
}
