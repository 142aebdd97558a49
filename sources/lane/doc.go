// Package lane computes pieces, gaps, lengths and sums of time. It computes them from the terms of a primitive with a
// single owner, and from the stretches in which the primitive was not observed. It reads no clock and does no IO, so
// that all screens and outputs show the same.
//
// It may import internal/ground/format.
//
// # What is known
//
// Each stretch of a lane is one of three kinds. Pushed: any write would have been reported. Sampled: the primitive was
// read at a pace, with no look missing. Dark: silence, lost continuity, no recording, or the time before the first
// look. In the first two, what two neighbouring looks both show was true between them. In the dark nothing is assumed:
// anybody may have owned it, or nobody.
//
// Every length is an [Interval]. No possible history that agrees with what was seen has a shorter or a longer one. If a
// part of it was sampled, Every is the longest pause between two looks; then the bounds are valid for histories in
// which nothing came and went within one pause. TestBoundsHoldInEveryWorld enumerates them.
//
// # The rules
//
//   - A term lasted at most from its earliest possible start to its latest possible end, or is [Endless] if its start
//     was not seen. It lasted at least until the last look that showed it, counted from its start; but after darkness
//     without proof of the same grant, counted from the first look after that ([Term].Sure).
//   - A [Gap] lies between two consecutive terms, or follows the last one. It is one gap even if darkness interrupts
//     it. Its Unbroken length is at least that of the longest seen piece, and its Sum at least that of all seen pieces;
//     both are at most the time from one end to the other.
//   - A gap that no look showed may not have existed. It is not counted, and only [Sum].Nobody.Max includes it. The
//     same holds for darkness in which a term is in doubt.
//   - Time without an owner before the first term is no gap.
//   - A gap cannot be measured if the start of the next term is only a bound or a claim of the owner.
//
// A sum of a window counts only the part of a gap or a term that lies in the window. Sums of consecutive windows can be
// added ([Sum.Plus]); a gap across their border counts once.
package lane
