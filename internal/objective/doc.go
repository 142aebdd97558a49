// Package objective computes how well primitives keep the objectives of the config, such as "99.95 % led over 30 days":
// how long nobody owned one, how much of its budget is used up, and how fast it was used in the last hour.
//
// It may import internal/history, sources, sources/lane, internal/ground/glob, internal/ground/format, internal/ground/lazy.
//
// # What is not known
//
// All results are intervals. The lower bound was observed, the upper bound is possible: nobody may have
// owned a primitive while it was not observed, and before it was first seen, but not while the same grant lasted, if
// that is proved (package lane). So time that was not observed counts neither as owned nor as not owned, and an
// objective with too much of it is [NotKnown], not [Within].
//
// The time before the first owner counts, as far as it was observed: nobody led then.
//
// Everything except [Judge] and a [Keeper] is pure and safe for concurrent use.
package objective
