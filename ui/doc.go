// Package ui is the board: one Bubble Tea model that shows what a Feed knows.
//
// The parts and the rules between them:
//
//   - A Feed gives state, events and time. Nothing here reads a clock, opens a
//     connection or blocks; a replay only needs another Feed.
//   - Keys become intents in one table (ui/keys), which also gives the footer and the
//     help. Update (update.go) turns messages into intents, intents (intents.go)
//     change the model. View returns the frame that the last Update drew.
//   - Which rows and events are shown, in which order, and how bad each row is: ui/rows. The
//     list itself is a table of identities (ui/table), drawn for the visible window only.
//   - What is drawn stands in ui/screen, from a Scene that is a part of the model. Screens are
//     the list, the log of events and the sources; a detail or the help is opened over one of
//     them and leads back to it. Filter and kind hold on all of them, and what they leave out
//     is always said in the header.
//   - The same table has the commands that are typed after a colon; what they take stands
//     behind their names (command.go). The help lists it and runs its lines.
//   - While the cursor is in use, rows keep their places.
//   - Drawing happens with ui/paint: kept SGR prefixes by meaning, widths measured in cells.
//     What comes from outside passes paint.Clean.
//   - What a person does to the world goes through an Operator, and is decided in a dialog
//     that stands over the board: ui/dialog. What it asks in goroutines, Run joins.
//   - Between the program and its terminal stands ui/terminal: a terminal that does not read
//     or that is gone cannot keep Run from ending, and a panic of the model ends Run, which
//     restores the terminal first. Run joins the goroutines that it starts.
//
// Nothing that must happen in time may depend on this package: a terminal that
// stops reading stops the whole event loop.
package ui
