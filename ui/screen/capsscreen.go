package screen

import (
	"slices"
	"strings"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// ReadOnlyText is shown if there is no operator.
const ReadOnlyText = "read-only: this board can change nothing"

// capsScreen draws the possible actions for each source, and which of them count as writes.
func capsScreen(sc *Scene, w int) []string {
	th := &sc.Theme
	gap := th.Line(w).Done()
	head := th.Line(w).Skip(1).Put(th.Heading, "CAPS").Skip(1).Put(th.Dim, "what can be done here, and what counts as a write")
	lines := []string{th.Line(w).Rule().Done(), head.Done(), gap}
	if !sc.Acts {
		return append(lines, th.Line(w).Skip(3).Put("", ReadOnlyText).Done(), gap)
	}
	f := factSheet{sc: sc, w: w, label: leastLabel + labelGap, lines: lines}
	f.title("WRITES", "sent only while writing is possible ("+sc.Keys.KeyOf(keys.Arm)+"), each with a line in the audit before and after")
	able := sc.Abilities()
	for _, d := range action.Verbs() {
		if known(able, d.Verb) {
			f.say("", d.Verb.String(), d.Changes)
		}
	}
	f.lines = append(f.lines, gap)
	f.title("NO WRITES", "possible at any time")
	f.say("", "look", "filter, order, mark, read again: servers are asked, and nothing there is changed")
	f.say("", "copy, export", "the terminal's clipboard, a file here")
	f.say("", "leave, call off", "leave a queue, call off what is under way, end coordtop: what is ours, or was to be, is given back")
	for i := range able {
		f.lines = append(f.lines, gap)
		f.ability(&able[i])
	}
	for i := range sc.State.Sources {
		if s := &sc.State.Sources[i]; !acted(able, s) {
			f.lines = append(f.lines, gap)
			f.title(paint.Clean(s.Name), paint.Clean(s.Type))
			f.say("", "can", "nothing: this program has no way to write to it")
		}
	}
	return append(f.lines, gap)
}

// title adds the first line of a section.
func (f *factSheet) title(name, text string) {
	f.lines = append(f.lines, f.sc.Theme.Line(f.w).Skip(1).Put(f.sc.Theme.Strong, name).Skip(2).Put(f.sc.Theme.Dim, text).Done())
}

// ability adds the section of one source: the verbs that are possible, and the others with the reasons.
func (f *factSheet) ability(a *action.Ability) {
	guard := ", protected: its name is typed to arm it, and each action needs a reason"
	f.title(paint.Clean(a.Source), paint.Clean(a.Type)+paint.When(a.Protect, guard))
	var can []string
	why := map[string][]string{}
	var order []string
	for _, c := range a.Choices {
		if c.Not == "" {
			can = append(can, c.Verb.String())
			continue
		}
		if why[c.Not] == nil {
			order = append(order, c.Not)
		}
		why[c.Not] = append(why[c.Not], c.Verb.String())
	}
	f.say("", "can", strings.Join(can, ", "))
	for _, not := range order {
		f.say(f.sc.Theme.Dim, "cannot", strings.Join(why[not], ", ")+": "+paint.Clean(not))
	}
	name := "how"
	for _, text := range a.Lines {
		f.say(f.sc.Theme.Dim, name, paint.Clean(text))
		name = ""
	}
}

// known reports whether any source has a verb.
func known(able []action.Ability, v action.Verb) bool {
	return slices.ContainsFunc(able, func(a action.Ability) bool {
		return slices.ContainsFunc(a.Choices, func(c action.Choice) bool { return c.Verb == v })
	})
}

// acted reports whether the operator has abilities for a source.
func acted(able []action.Ability, s *sources.SourceStatus) bool {
	return slices.ContainsFunc(able, func(a action.Ability) bool { return a.Source == s.Name })
}
