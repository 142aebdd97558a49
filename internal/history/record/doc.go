// Package record writes the Inputs of a Hub, and what follows from them, to a recording: see package history.
//
// It may import internal/action, internal/history, sources, sources/tape, internal/ground/backoff,
// internal/ground/spawn.
//
// # One goroutine
//
// [Recorder.Run] is the only user of the store. Each 300 ms it takes the Inputs, reads the events, compares
// the rows with those that it wrote last, and writes one Batch; while less happens, 150 ms after the first
// Input behind a pause, and where nothing does, each 1.1 s. Nobody waits for it: the Hub drops Inputs that it
// does not take in time, and Run returns at the latest two seconds after its context has ended, whatever the
// disk does.
//
// # Groups
//
// A group of Inputs begins with a keyframe: at the start, and behind every hole, which a failed write leaves
// as well. It ends after 20,000 Inputs if they take four times the room of its keyframe, else after 80,000
// Inputs or 40,000 events, and after an hour. Where all Inputs of the Hub are there, the first one is that of
// a Hub to which nothing has happened.
//
// Terms and events of many rows are written in pieces: 100,000 new rows are never copied at once, and between
// two of them the Inputs that came meanwhile are written, so that a replay has them whatever happens. If one
// piece fails, all of them are written again. Terms that a killed recorder had not written are written by the
// next one.
//
// # Failures
//
// After a failed write the recorder tries again after ten seconds, with a new group. Terms and events are
// written then as far as the Hub still has them: events that it has dropped by then become a stretch in which
// nothing was observed, for all rows; terms that a row does not keep any more, one for that row. A file that
// is no longer at its path (history.ErrMoved) is followed by another one at once.
package record
