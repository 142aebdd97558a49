// Package ui is the board: one Bubble Tea model that shows what a Feed knows.
//
// The parts and the rules between them:
//
//   - A Feed gives state, events and time. Nothing here reads a clock, opens a
//     connection or blocks; a replay only needs another Feed.
//   - Keys become intents in one table (keys.go), which also gives the footer and the
//     help. Update (update.go) turns messages into intents, intents (intents.go)
//     change the model. View returns the frame that the last Update drew.
//   - An index (index.go) keeps filter, order and severity up to date from the rows
//     that differ, so that a wake-up costs little with 100,000 rows; the list itself
//     is a table of identities (ui/table), drawn for the visible window only.
//   - Screens (screens.go) are the list, the log of events and the sources; a detail or
//     the help is opened over one of them and leads back to it. Filter and kind hold on
//     all of them, and what they leave out is always said in the header.
//   - The log (eventlog.go) keeps a bounded number of events and, apart, of renewals: a
//     sawtooth is drawn from those.
//   - Rectangles are computed once a size (layout.go). Every part is handed its box
//     and returns exactly that many lines of exactly that many cells.
//   - The same table has the commands that are typed after a colon; what they take stands
//     behind their names (command.go). The help (help.go) lists it and runs its lines.
//   - A filter is an expression of ui/filter; ui/filter.go says what rows and events
//     answer to it. While the cursor is in use, rows keep their places (order.go).
//   - Drawing happens with line (line.go): kept SGR prefixes by meaning (theme.go),
//     widths measured in cells. What comes from outside passes format.Clean.
//   - What a person does goes through an Operator (operator.go). A dialog (dialog.go)
//     stands over the board and takes the keys while it is open: the menu of a row's
//     actions (menu.go), the box of one of them (box.go), which is pinned to the row's
//     owner and off for good once that has changed, and questions. Only the operator's
//     Describe may block: it is asked in a goroutine that Run joins. What waits for the
//     disk of the audit is done beside the board, too (doer.go), but not joined.
//   - One goroutine of our own, the pump (pump.go), turns the Feed's wake-ups into one
//     coalesced message. Run joins it.
//   - Between Bubble Tea and the terminal stand a gate (gate.go), whose goroutine does the
//     writes and times them, and a keyboard (keyboard.go): a terminal that does not read or
//     that is gone cannot keep Run from ending, and a slow one gets a frame a second.
//   - A panic, in a goroutine of ours or in the model (solid.go), is told as Run's context
//     says, see package spawn, and ends Run, which restores the terminal first.
//
// Nothing that must happen in time may depend on this package: a terminal that
// stops reading stops the whole event loop.
//
// # Files
//
// The program around the model:
//
//	app.go pump.go gate.go keyboard.go    Run, and the goroutines and the terminal around it
//	size.go input.go                      bounds of what a terminal says: its size, what it sends
//	solid.go                              the model when it panics
//	drop_*.go alone_*.go                  what each system is asked for that
//	feed.go operator.go                   what the board is handed
//
// The model, and what changes it:
//
//	model.go update.go                    state and messages
//	keys.go linekeys.go keyconf.go splitkeys.go    keys to intents; keys that come in pieces
//	intents.go lineintents.go mouse.go    what intents do; those of lines, menus and marks
//	command.go complete.go                the line behind a colon, and what completes lines
//	filter.go index.go order.go judge.go  which rows, in which order, how bad each is
//	export.go                             copies and files
//
// The frame, from the top to the bottom:
//
//	draw.go layout.go screens.go          who gets which lines
//	header.go health.go trouble.go        the environment, its sources, what is wrong with them
//	list.go columns.go empty.go           the list
//	detail.go owners.go queue.go facts.go fulldetail.go pretty.go    one row, in a pane and in full
//	eventlog.go events.go eventpane.go eventscreen.go  events
//	sourcescreen.go capsscreen.go help.go footer.go     the other screens, the last line
//
// Acting:
//
//	hands.go doer.go ours.go leave.go keep.go    what acts; what we hold and did; quitting
//	arm.go disarm.go badge.go    writing: how it begins and ends, and what the header says of it
//	dialog.go menu.go named.go box.go boxdraw.go boxpin.go boxtype.go field.go provision.go    dialogs
//
// What all of them draw with:
//
//	line.go grid.go theme.go scheme.go    lines, small tables, styles, colours
//	words.go times.go lease.go            how causes, ages and leases are written
//	strip.go sawtooth.go                  terms and renewals as pictures
package ui
