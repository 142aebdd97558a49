// Package dialog is the part of a board that acts. A dialog stands over the board and takes
// the keys while it is open: the menu of a row's actions, the box of one of them, which
// is pinned to the row's owner and off for good once that has changed, and questions.
//
// An Operator carries out the decision of a person. Only its Describe may block: it is asked in
// goroutines that the caller joins. Calls that wait for the disk of the audit run beside the
// board, too, but are not joined. Dialogs reach the board through a Host, which shows
// messages, the rows as they are now, and the Scene that is drawn.
package dialog
