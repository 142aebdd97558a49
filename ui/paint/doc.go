// Package paint has what every screen is drawn with: lines of exactly so many cells, small
// tables, styles by meaning, and how ages, causes and leases are written. It keeps no state
// and knows no row of a list; the time is always handed to it.
//
// Text from outside passes Clean before it is put into a Line. Widths are measured in cells.
package paint
