// Package record writes what a Hub takes in, and what follows from it, to a recording: see
// package history.
//
// # One goroutine
//
// [Recorder.Run] is the only user of the store. Each 300 ms it takes the Inputs, reads the
// events, compares the rows with those that it wrote last, and writes one Batch; while less happens, 150 ms after
// the first Input behind a pause, and where nothing does, each 1.1 s. Nobody waits for it: the Hub drops Inputs that it does not take in time, and Run comes back two seconds after
// its context has ended at the latest, whatever the disk does.
//
// # Groups
//
// A group of Inputs begins with a keyframe: at the start, and behind every hole, which a failed write leaves as well. It ends
// after 20,000 Inputs if they take four times the room of its keyframe, else after 80,000 Inputs or 30,000 events, and after an hour. Where all Inputs of
// the Hub are there, the first one is that of a Hub to which nothing has happened.
//
// Terms and events of many rows are written in pieces: 100,000 new rows are never copied at once, and between two of
// them the Inputs that came meanwhile are written, so that a replay has them whatever happens. If one piece fails, all of
// them are written again. What a recorder that was killed had not written of terms the next one writes.
//
// # Failures
//
// What could not be written is tried again after ten seconds, with a new group. What follows from
// the Inputs is written then as far as the Hub still has it: events that it has dropped by
// then are a stretch in which nothing was observed, for all; the terms of a row that are
// not kept any more, for that row. A file that is not where it was any more (history.ErrMoved) is followed by
// another one at once.
package record
