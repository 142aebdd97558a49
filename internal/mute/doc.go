// Package mute decides which problems a person does not want to be told of now. The board, get, why and
// notifications ask it, and leave out nothing of a problem that they would not count again by themselves.
//
// It may import internal/diagnose, internal/ground/format, sources, sources/verdict.
//
// A [Mute] has an end. It is either an acknowledgement ("I know it") of the problems that its Pins name, or it
// has a filter, and then covers each problem of the rows that the filter selects. A problem is told of again
//
//   - once the end has passed, or the person has ended the Mute,
//   - once it is graver than its [Pin]: it was worth a look, and needs a person,
//   - once its cause is another one: another fault, or another pattern of package diagnose where both are known,
//   - of an acknowledgement also once it is over: one that began after the acknowledgement is another problem.
//
// A problem that a filter selects only later is pinned by the first [Decide] that meets it; who calls Decide
// keeps [Decision].Mutes, so that all programs compare with the same Pin.
//
// A Mute holds for the servers that it was made about: another environment may have sources of the same names.
// A mute never changes what is a problem or how grave it is.
//
// Everything here is pure: it reads no clock and no file. It is safe for concurrent use.
package mute
