// Package timeline turns terms and stretches without observation into the cells of a
// strip. It draws nothing: it says what each cell means.
//
// Columns are anchored to the clock: their edges are multiples of a step from a fixed
// list, so that a strip does not shimmer and costs few bytes as time goes on.
//
// Two kinds of nothing are kept apart: nobody owned it, and it was not observed. Time before the
// first look was not observed, and time that is not recorded any more looks the same. What
// may be recorded and was not read is neither: nothing is said of it.
// A stretch that is shorter than a column is rounded, but gaps and darkness never vanish:
// each takes at least one cell. A column in which more happened than a cell can show says
// so. A gap is trouble only if it is long; a short one is a break, the sign of a hand-over.
//
// Strip gives the cells that are drawn, Pieces the exact stretches that a readout and a legend
// count. TestEveryColumnWithAGapAChangeOrDarknessShowsASign compares them, to a column: a sign may
// stand in the one beside.
//
// A semaphore has a profile instead of a strip: how many of its permits were taken.
package timeline
