package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/address"
	"coordtop/ui/dialog"
	"coordtop/ui/filter"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
)

// typedLine is the line at the bottom in which a command, or words for the help, are
// typed.
type typedLine struct {
	context keys.Context // keys.InCommand or keys.InHelpText; 0: nothing is typed
	input   dialog.Input
	offer   offer
	past    []string // commands that were run, oldest first
	at      int      // which of past is shown; len(past): none
}

// keptCommands bounds the history of commands.
const keptCommands = 100

// begin has a line typed.
func (t *typedLine) begin(what keys.Context, text string) tea.Cmd {
	t.context, t.at = what, len(t.past)
	t.input.SetValue(text)
	t.input.CursorEnd()
	return t.input.Focus()
}

func (t *typedLine) leave() {
	t.context = 0
	t.input.Blur()
	t.input.SetValue("")
}

// edit changes the line, except for one with nothing in it: a backspace there leaves it.
func (t *typedLine) edit(msg tea.Msg) {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.Code == tea.KeyBackspace && t.input.Value() == "" {
		t.leave()
		return
	}
	t.input.Update(msg)
}

// recall shows another command of the history.
func (t *typedLine) recall(step int) {
	to := t.at + step
	if to < 0 || to > len(t.past) {
		return
	}
	t.at = to
	text := ""
	if to < len(t.past) {
		text = t.past[to]
	}
	t.input.SetValue(text)
	t.input.CursorEnd()
}

func (t *typedLine) remember(text string) {
	t.past = slices.DeleteFunc(t.past, func(old string) bool { return old == text })
	t.past = append(t.past, text)
	t.past = t.past[max(0, len(t.past)-keptCommands):]
}

// runLine runs what is typed after the colon.
func (m *model) runLine() tea.Cmd {
	text := strings.TrimSpace(m.line.input.Value())
	m.line.leave()
	if text == "" {
		return nil
	}
	m.line.remember(text)
	name, argument, _ := strings.Cut(text, " ")
	c, ok := keys.Named(name)
	switch argument = strings.TrimSpace(argument); {
	case !ok:
		m.Say("no command " + paint.Clean(name) + ": " + nearOr(name, keys.CommandNames(), m.Keys.KeyOf(keys.Help)+" lists them"))
		return nil
	case argument != "" && c.Argument == "":
		m.Say(":" + c.Name + " takes nothing behind it: write :" + c.Name + " alone")
		return nil
	}
	if c.Context&m.keyContext() == 0 && c.Context&keys.InLocks != 0 {
		m.switchTo(screen.Locks)
	}
	return m.obey(c.Intent, argument)
}

// nearOr asks whether another word was meant; if no word is near, it names other help.
func nearOr(word string, known []string, help string) string {
	if near := address.Near(word, known...); near != "" {
		return "did you mean " + paint.Clean(near) + "?"
	}
	return help
}

// completeLine offers commands, then what their argument can be.
func (m *model) completeLine(text string) filter.Completion {
	name, argument, more := strings.Cut(text, " ")
	if !more {
		var list []string
		for _, c := range keys.Commands() {
			if strings.HasPrefix(c.Name, name) {
				if c.Argument != "" {
					c.Name += " "
				}
				list = append(list, c.Name)
			}
		}
		return filter.Completion{List: list}
	}
	c, ok := keys.Named(name)
	if !ok {
		return filter.Completion{From: len(text)}
	}
	from := len(name) + 1
	complete := m.handlers[c.Intent].arguments
	if complete == nil {
		return filter.Completion{From: from}
	}
	inner := complete(m, argument)
	return filter.Completion{From: from + inner.From, List: inner.List}
}

// oneOf completes an argument that is one of some words.
func oneOf(words func(m *model) []string) func(*model, string) filter.Completion {
	return func(m *model, typed string) filter.Completion {
		return filter.Completion{List: slices.DeleteFunc(words(m), func(s string) bool { return !strings.HasPrefix(s, typed) })}
	}
}

// sourceNames are the arguments of the command that filters by source.
func sourceNames(m *model) []string { return append(m.Rows.Values("source"), "all") }

// orderWords are the names of the orders.
func orderWords() []string {
	var list []string
	for s := range rows.Orders {
		list = append(list, s.Word())
	}
	return list
}

// offeredNames bounds the names of a completion.
const offeredNames = 50
