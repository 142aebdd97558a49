// Package timeline turns terms and stretches without observation into the cells of a
// strip. It draws nothing: a cell has a meaning, and package paint has the glyphs.
//
// It may import sources, sources/lane.
//
// Columns are anchored to the clock: their edges are multiples of a step from a fixed
// list, so that a strip does not shimmer and costs few bytes as time passes.
//
// Three kinds of empty time are kept apart: nobody owned it (Idle, Break or Leaderless); it was not
// observed, also because it was before the first look or the record of it was dropped (Dark); it may
// be recorded, but was not read (Unread).
// A stretch that is shorter than a column is rounded, but gaps and unobserved stretches never
// vanish: each takes at least one cell. A column with more changes than a cell can show has a sign
// of its own. Only long gaps are trouble; a short gap is a break, the sign of a hand-over.
//
// Strip returns the cells that are drawn, Pieces the exact stretches that a readout and a legend
// count. TestEveryColumnWithAGapAChangeOrDarknessShowsASign compares them with a tolerance of one
// column.
//
// A semaphore has a profile of its taken permits instead of a strip.
package timeline
