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
//
// # From a server to the board of another machine
//
// A team has one recorder, a store on Postgres, and boards that ask no server. A change at a server passes these, in
// this order:
//
//  1. A source sends it to the Hub of the recorder, which applies it as an Input (package sources).
//  2. A Recorder writes the Input to a file, the spool: 40 ms after a pause, then every 100 ms (packages record, sqlite).
//  3. A Forwarder reads the spool after each write, and writes the same to the store (record, postgres). While the
//     store takes nothing, it tries again every 0.2 to 2 s, and the spool grows up to its limit (sqlite.Limits).
//  4. The transaction that writes it announces itself by NOTIFY. A Listener on each machine receives that (postgres).
//     Where no announcement arrives, the store is polled every 200 ms.
//  5. A Follower reads the Inputs, and applies them to a Hub that equals that of the recorder (follow, sources.Follower).
//  6. The commands show this Hub, and the board a Feed of it (internal/app/relayed).
//
// Each of them reads from the one before, so that none waits for a later one. If announcements arrive, half of the
// changes are on the board within 80 ms after the recorder saw them, and 99 of 100 within 400 ms. When nothing was
// written for [Silence], all on the board is old.
//
// Package election explains how a run begins, and why only one recorder writes.
package history
