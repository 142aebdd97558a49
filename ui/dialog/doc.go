// Package dialog is the part of a board that acts. A dialog stands over the board and receives
// the keys while it is open. Dialogs are the menu of a row's actions, the box of one action, and
// questions. A box is pinned to the row's owner: once the owner has changed, the box cannot send
// anything any more.
//
// It may import internal/action, internal/mute, sources, sources/verdict, ui/keys, ui/paint, ui/screen,
// internal/ground/address, internal/ground/format, internal/ground/spawn.
//
// An Operator carries out the decision of a person. Only its Describe may block: it runs in
// goroutines that the caller joins. Calls that wait for the disk of the audit run in goroutines
// too, but are not joined. A dialog uses a Host, which shows messages, the latest rows, and the
// Scene that is drawn.
package dialog
