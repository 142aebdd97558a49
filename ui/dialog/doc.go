// Package dialog is the part of a board that acts. A dialog stands over the board and takes
// the keys while it is open: the menu of a row's actions (menu.go), the box of one of them
// (box.go), which is pinned to the row's owner and off for good once that has changed, and
// questions.
//
// What a person decides goes through an Operator. Only its Describe may block: it is asked in
// goroutines that the caller joins. What waits for the disk of the audit is done beside the
// board, too (doer.go), but not joined. Dialogs reach the board through a Host, which shows
// messages, the rows as they are now, and the Scene that is drawn.
package dialog
