// Package screen draws all screens from a Scene: the theme, the time, the state, the rows in their
// order, the layout, and the typed texts. Draw only reads the Scene, but for the terms that a history.Past
// keeps once they are joined. The model updates it before: Arrange computes the layout. QueryOf asks what memory
// and the recording know of a row.
//
// It may import internal/action, internal/diagnose, internal/fleet, internal/help, internal/history,
// internal/history/trouble, internal/mute, internal/objective, sources, sources/lane, sources/origin, sources/verdict, ui/cursor, ui/keys,
// ui/paint, ui/rows, ui/timeline,
// internal/ground/format.
//
//   - A screen is one entry of a table (draw.go) and its file; a column of the list is one
//     entry of another (columns.go). Panes are functions or small types.
//   - The boxes are computed for each size (scene.go). Every part gets the size of its box and
//     returns exactly that many lines of exactly that many cells.
//   - Draw returns a Frame, Overlay draws a dialog over one.
//
// Nothing here reads a clock. A Frame has the scroll positions, bounded to the contents.
package screen
