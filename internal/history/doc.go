// Package history defines the queries of a recording and the types of their results. It opens no file: a store is a
// package below this one.
//
// It may import internal/action, sources, sources/lane, internal/ground/format, internal/ground/spawn.
//
// # What is recorded
//
// A recording holds the Inputs of a Hub (sources.Input) in groups. Each group begins with a whole model, a
// sources.Keyframe, so that the state at any instant can be rebuilt from one group. Before version 6 of the file, old
// groups lost their renewals, so that some facts about leases are unknown there ([Position].Thin). Besides the groups,
// a store keeps derived data that must be found quickly: terms, levels of semaphores, events, and the stretches in
// which nothing was observed.
//
// A [Run] is one process that recorded. The time between the end of a run and the start of the next is not recorded, so
// nothing is known about it. The same holds for the time in which the recorder could not write. [Why] names the reasons
// for which something is not known.
//
// Data that the program never shows is never recorded. Everything is written to a store by the codec of
// package tape, which never writes a nonce, a Guard or, with unrecorded_data, any data: see
// [coordtop/sources/tape.Encoder.Event] for the events.
//
// # Memory and a recording
//
// Memory keeps only the last terms of a row, a recording keeps all of them. A [Query] answers from both, even for a row
// that only the recording has: it returns which part of the recording must still be read, and merges that part, a
// [Past], with memory. Strips, readouts, sums, jumps and exports of the board get the same lane from it.
//
// # Who uses it
//
// One process at a time writes a recording, one [Batch] after the other. The Timeline screen, `history` and `report`
// use a [Reader]. A replay reads the [Log]. All of them may read while the recorder of this process, or of another one,
// writes.
package history
