// Package history defines the questions that can be asked of a recording, and the types of their answers. It
// opens no file: a store is a package below this one.
//
// It may import internal/action, sources, sources/lane, internal/ground/format, internal/ground/spawn.
//
// # What is recorded
//
// A recording holds the Inputs of a Hub (sources.Input), in groups: each begins with a whole model, a
// sources.Keyframe, so that the state at any instant is made again from one group. Before version 6 of the
// file the renewals were left out of old groups: what they report of leases is unknown there
// ([Position].Thin). Beside the groups a store keeps what is derived from them and must be found quickly:
// terms, levels of semaphores, events, and the stretches in which nothing was observed.
//
// A [Run] is one process that recorded. Between the end of a run and the start of the next nobody recorded:
// that time is not recorded, and nothing is said about it. The same holds for what was lost while the
// recorder could not write. [Why] names the reasons for which something is not known.
//
// Data that the program never shows is never recorded. Everything is written to a store by the codec of
// package tape, which never writes a nonce, a Guard or, with unrecorded_data, any data: see
// [coordtop/sources/tape.Encoder.Event] for the events.
//
// # Memory and a recording
//
// Memory keeps the last terms of a row, a recording all of them. A [Query] asks both of a row, whether memory has it
// or only the recording: it says which part of the recording is still to be read, and merges that part, a [Past],
// with memory. Strips, readouts, sums, jumps and exports of the board get the same lane from it.
//
// # Who uses it
//
// A recorder writes a [Batch] at a time, one process for each recording. The Timeline
// screen, `history` and `report` ask a [Reader]. A replay reads the [Log]. All of them may do
// so while the recorder of this process, or of another one, writes.
package history
