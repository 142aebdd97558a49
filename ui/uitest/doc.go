// Package uitest holds what tests of the board share: a story with every kind of row,
// told by scripted sources to a real Hub in virtual time; a Feed that tests turn by
// hand; a terminal emulator that shows what a running program has drawn; golden files
// and checks of frames.
package uitest
