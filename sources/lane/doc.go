// Package lane is the arithmetic of time: from the terms of a primitive that one alone can own, and the
// stretches in which it was not observed, it computes what every surface shows: pieces, gaps, lengths
// and sums. It is pure: it reads no clock and does no IO, and one lane has one answer everywhere.
//
// It may import internal/ground/format.
//
// # What is known
//
// Each stretch of a lane is one of three kinds. Pushed: any write would have been told. Sampled: looks at a
// pace, none missing. Dark: silence, lost continuity, not recorded, or before the first look. In the first
// two, what two neighbouring looks both show held between them. Nothing is assumed about the dark: anybody
// may have owned it, or nobody.
//
// Every length is an [Interval]. No world that agrees with what was seen has a shorter or a longer one. Where a
// part of it was sampled, Every is the longest pause between two looks: then no world in which
// nothing came and went within one pause has. TestBoundsHoldInEveryWorld enumerates them.
//
// # The rules
//
//   - A term lasted at most from its earliest possible start to its latest possible end, [Endless] where its
//     start was not seen. It lasted at least from the first look behind the last darkness over which nothing
//     proved the same grant ([Term].Sure, else its start) to the last look that showed it.
//   - A [Gap] lies between two consecutive terms, or lasts behind the last one. It is one however often
//     darkness cuts it. Its Unbroken length is at least the longest piece that was seen; its Sum, all of
//     them together; both are at most from end to end.
//   - A gap that no look showed may have been none: it is not counted, and only [Sum].Nobody.Max has it. So is
//     the darkness over which a term is in doubt.
//   - Time without an owner before the first term is no gap.
//   - No gap can be measured before a start that is only a bound, or a claim of its owner.
//
// A sum of a window counts only the part of a gap or a term that lies in the window. Sums of windows that
// follow each other can be added ([Sum.Plus]): a gap that their border cuts is one.
package lane
