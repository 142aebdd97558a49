// Package screen draws everything that is shown, from a Scene: the theme, the time, the state,
// the rows and their order, the layout, and what is typed. Draw only reads it. The model has it
// brought up to date before: Arrange computes the layout, Past.Add and JoinPast add what was
// read of a recording.
//
//   - A screen is one entry of a table (screens.go) and its file; a column of the list is one
//     entry of another (columns.go). Panes are functions or small types.
//   - Rectangles are computed once a size (layout.go). Every part is handed its box and
//     returns exactly that many lines of exactly that many cells.
//   - Draw returns a Frame, Overlay puts a dialog over one.
//
// Nothing here reads a clock; where scrolling ends comes back with the Frame.
package screen
