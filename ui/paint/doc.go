// Package paint draws the parts of all screens: lines with an exact number of cells, small tables,
// strips, styles by meaning, and ages and causes in words. It keeps no state; callers pass the
// time.
//
// It may import sources, sources/verdict, ui/timeline, internal/ground/format.
//
// Text from outside must pass Clean before it is put into a Line. Widths are in cells.
package paint
