package ui

import (
	"maps"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/ui/filter"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
)

// handler carries out an intent. The text typed behind its command is its argument.
type handler struct {
	do        func(m *model, argument string) tea.Cmd
	arguments func(m *model, typed string) filter.Completion // nil: its command takes none
}

// simply is a handler that only changes the model.
func simply(do func(m *model)) handler {
	return handler{do: func(m *model, _ string) tea.Cmd {
		do(m)
		return nil
	}}
}

// asking is a handler that asks Bubble Tea for something.
func asking(do func(m *model) tea.Cmd) handler {
	return handler{do: func(m *model, _ string) tea.Cmd { return do(m) }}
}

// taking is a handler that only changes the model, by what is typed behind its command.
func taking(do func(m *model, argument string), arguments func(m *model, typed string) filter.Completion) handler {
	return handler{arguments: arguments, do: func(m *model, argument string) tea.Cmd {
		do(m, argument)
		return nil
	}}
}

// handlers are those of all intents, but for those that dialogs carry out.
func handlers() map[keys.Intent]handler {
	all := map[keys.Intent]handler{}
	for _, part := range []map[keys.Intent]handler{boardHandlers(), timelineHandlers(), lineHandlers(), menuHandlers(), replayHandlers(), mutesHandlers()} {
		maps.Copy(all, part)
	}
	for _, i := range []keys.Intent{keys.Up, keys.Down, keys.HalfUp, keys.HalfDown, keys.PageUp, keys.PageDown, keys.Top, keys.Bottom} {
		all[i] = simply(func(m *model) { m.move(i) })
	}
	for i, v := range screen.Openers() {
		if _, own := all[i]; !own {
			all[i] = simply(func(m *model) { m.show(v) })
		}
	}
	for s := range rows.Orders {
		all[keys.Intent("sort-by-"+s.Word())] = simply(func(m *model) { m.rowList.order(s) })
	}
	return all
}

// do carries out an intent.
func (m *model) do(i keys.Intent) tea.Cmd { return m.obey(i, "") }

// obey carries out an intent that may have an argument.
func (m *model) obey(i keys.Intent, argument string) tea.Cmd {
	if m.replay.refused(i) {
		return nil
	}
	if i == keys.Actions && m.Shown == screen.Pulse && !m.pulse.goTo(screen.Locks) {
		return nil
	}
	if cmd, done := m.acting.Do(i); done {
		return cmd
	}
	if h, ok := m.handlers[i]; ok {
		return h.do(m, argument)
	}
	return nil
}

// boardHandlers are those of what is shown.
func boardHandlers() map[keys.Intent]handler {
	return map[keys.Intent]handler{
		keys.Open:      simply((*model).openRow),
		keys.Pulse:     simply(func(m *model) { m.rowList.unfocus(); m.show(screen.Pulse) }),
		keys.Timeline:  simply(func(m *model) { m.pulse.timeline() }),
		keys.Pane:      simply((*model).nextPane),
		keys.Back:      simply((*model).leave),
		keys.Filter:    asking(func(m *model) tea.Cmd { return m.rowList.filtering.begin() }),
		keys.Keep:      simply(func(m *model) { m.rowList.filtering.end() }),
		keys.Complete:  simply((*model).complete),
		keys.Clear:     simply((*model).clearFilter),
		keys.Problems:  simply(func(m *model) { m.rowList.onlyProblems() }),
		keys.Kind:      simply(func(m *model) { m.rowList.nextKind() }),
		keys.Pause:     simply((*model).pause),
		keys.Refresh:   simply((*model).refresh),
		keys.Help:      simply((*model).help),
		keys.Next:      simply(func(m *model) { m.next(+1) }),
		keys.Previous:  simply(func(m *model) { m.next(-1) }),
		keys.Mark:      simply(func(m *model) { m.rowList.mark() }),
		keys.Unmark:    simply(func(m *model) { m.rowList.unmark() }),
		keys.SameOwner: simply((*model).sameOwner),
		keys.Owners:    simply(func(m *model) { m.owners.open() }),
		keys.Group:     simply(func(m *model) { m.owners.group() }),
		keys.Width:     simply((*model).nextShape),
		keys.Mouse:     simply((*model).switchMouse),
		keys.UTC:       simply(func(m *model) { m.utc = !m.utc; m.second() }),
		keys.Redraw:    asking(func(*model) tea.Cmd { return tea.ClearScreen }),
		keys.Suspend:   asking((*model).suspend),
		keys.Abort:     asking(func(m *model) tea.Cmd { return m.aborting }),
	}
}

// lineHandlers are those of the line at the bottom, and of commands with an argument.
func lineHandlers() map[keys.Intent]handler {
	claim := func(v action.Verb) handler {
		return handler{
			do: func(m *model, name string) tea.Cmd { return m.acting.Claim(v, name) },
			arguments: func(m *model, typed string) filter.Completion {
				return filter.Completion{List: m.rowList.namesLike(typed)}
			},
		}
	}
	return map[keys.Intent]handler{
		keys.Command:    asking(func(m *model) tea.Cmd { return m.line.begin(keys.InCommand, "") }),
		keys.Run:        asking((*model).run),
		keys.GiveUp:     simply(func(m *model) { m.line.leave() }),
		keys.Earlier:    simply(func(m *model) { m.line.recall(-1) }),
		keys.Later:      simply(func(m *model) { m.line.recall(+1) }),
		keys.FilterBy:   taking(func(m *model, text string) { m.rowList.filterBy(text) }, func(m *model, typed string) filter.Completion { return m.rowList.completeFilter(typed) }),
		keys.SourceIs:   taking(func(m *model, name string) { m.rowList.onlySource(name) }, oneOf(sourceNames)),
		keys.SortBy:     taking(func(m *model, name string) { m.rowList.sortBy(name) }, oneOf(func(*model) []string { return orderWords() })),
		keys.Theme:      {do: (*model).setScheme, arguments: oneOf(func(*model) []string { return paint.Schemes() })},
		keys.AcquireBy:  claim(action.Acquire),
		keys.CampaignBy: claim(action.Campaign),
	}
}

// menuHandlers are those of menus of one key.
func menuHandlers() map[keys.Intent]handler {
	menu := func(s keys.Context) handler { return simply(func(m *model) { m.Menu = s }) }
	write := func(f Form) handler { return asking(func(m *model) tea.Cmd { return m.exporter.write(f) }) }
	return map[keys.Intent]handler{
		keys.Sort: menu(keys.InSort),
		keys.Copy: asking(func(m *model) tea.Cmd {
			if m.Shown == screen.Pulse {
				return m.exporter.copied("the cause", m.pulse.text())
			}
			m.Menu = keys.InCopy
			return nil
		}),
		keys.Export: simply(func(m *model) {
			if m.Menu = keys.InExport; m.Shown == screen.Timeline {
				m.Menu = keys.InPicture
			}
		}),
		keys.KeepScreen:     menu(keys.InKeep),
		keys.QuitText:       asking((*model).quitKeeping),
		keys.CopyName:       asking(func(m *model) tea.Cmd { return m.exporter.copy(keys.CopyName) }),
		keys.CopyOwner:      asking(func(m *model) tea.Cmd { return m.exporter.copy(keys.CopyOwner) }),
		keys.CopyJSON:       asking(func(m *model) tea.Cmd { return m.exporter.copy(keys.CopyJSON) }),
		keys.CopyCommand:    asking(func(m *model) tea.Cmd { return m.exporter.copy(keys.CopyCommand) }),
		keys.CopyDrill:      asking(func(m *model) tea.Cmd { return m.exporter.copy(keys.CopyDrill) }),
		keys.ExportText:     write(FormText),
		keys.ExportJSON:     write(FormJSON),
		keys.ExportCSV:      write(FormCSV),
		keys.ExportMarkdown: write(FormMarkdown),
		keys.ExportSVG:      write(FormSVG),
	}
}
