// Package uitest holds what tests of several packages share to test the board: hand-made rows,
// a load for a Hub, and a terminal emulator that shows what a running program has drawn.
//
// It may import sources, sources/sourcetest.
package uitest
