// Package ui is the board: one Bubble Tea model that shows what a Feed knows.
//
// It may import internal/action, internal/diagnose, internal/fleet, internal/history, internal/history/trouble, internal/mute, internal/objective,
// sources, sources/lane, sources/origin, sources/verdict, ui/*, internal/ground/address, internal/ground/format,
// internal/ground/spawn.
//
// Update turns messages into intents, an intent is carried out by its handler (handlers.go),
// which changes the model, and View returns the frame that the last Update drew. Nothing here
// reads a clock, opens a connection or blocks: a Feed gives state, events and time, so a
// replay only needs another Feed.
//
// The model routes messages and draws. The rest of the state is in parts: rowList, pulsePart, timelinePart, pastReader,
// replay, ownersPart, troubleReader, objectiveReader, auditReader, exporter, focusNotifier, attention. A part reads and changes the Scene; of the
// model it calls only the methods of host.
//
// Below the model stand layers, each a package that imports only what stands below it:
//
//   - dialog: the menu, the boxes and the questions in which a person decides what an
//     Operator does. Run joins the goroutines in which it asks.
//   - screen: all that draws, from a Scene that the model embeds.
//   - rows: which rows and events are shown, in which order, and how bad each row is.
//   - keys: the one table of intents, keys and commands.
//   - paint, cursor, timeline, filter: lines and styles, cursors on lists, strips, and the
//     language of filters. They have no state of the board.
//   - terminal: what stands between the program and its terminal. It knows no other layer.
//     A panic of the model ends Run, which restores the terminal first.
//
// To add a column: an entry of columnTable in screen. A screen: an entry of viewTable in
// screen and its file, with an intent in keys. An order: an entry of orderTable in rows, with
// an intent in keys. A field of filters: an entry of fieldTable in rows. An intent: a binding
// in keys and a handler here.
//
// Filter and kind hold on all screens but Pulse and Owners, and what they leave out is always said in the header.
// While the cursor is in use, rows keep their places. Text from outside passes
// paint.Clean before it is drawn.
//
// Nothing that must happen in time may depend on this package: a terminal that
// stops reading stops the whole event loop.
package ui
