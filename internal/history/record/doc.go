// Package record writes the Inputs of a Hub, and the data derived from them, to a recording, see package history.
//
// It may import internal/action, internal/history, sources, sources/tape, internal/ground/backoff,
// internal/ground/spawn.
//
// # One goroutine
//
// [Recorder.Run] is the only user of the store. Every 300 ms it takes the Inputs, reads the events, compares the rows
// with those that it wrote last, and writes one Batch. After a pause it writes 150 ms after the first Input, and while
// nothing happens every 1.1 s. Nobody waits for it: the Hub drops Inputs that it does not take in time, and Run returns
// at most two seconds after its context has ended, even if the disk blocks.
//
// # The store of a team
//
// A [Forwarder] copies the recording to another store, run by run, while the Recorder writes it. The recording is its
// spool: a store that is slow, full, read-only or away delays nothing, and gets the rest later. Each run of the store
// begins at the instant that [ForwardOptions].Last returns, the end of its previous run, so nothing is copied twice.
//
// If another recorder has taken over while the store was away, [Fill] copies what was seen until then to the end of the
// run that was superseded. What comes later is counted.
//
// # Groups
//
// A group of Inputs begins with a keyframe: at the start, and after every hole, such as a failed write. It ends after
// 20,000 Inputs if they take four times the size of its keyframe, otherwise after 80,000 Inputs, 40,000 events or an
// hour. If the recording has all Inputs of the Hub, its first keyframe is that of an empty Hub.
//
// Terms and events of many rows are written in pieces, so that 100,000 new rows are never copied at once. Between two
// pieces it writes the Inputs that have arrived, so that a replay has them even after a crash. If one piece fails,
// all of them are written again. Terms that a killed recorder had not written are written by the next one.
//
// # Failures
//
// After a failed write the recorder tries again after ten seconds, with a new group. It then writes the terms and
// events that the Hub still has. Events that the Hub has dropped become an unobserved stretch of all rows, and terms
// that a row has dropped become one of that row. If the file is no longer at its path (history.ErrMoved), it begins
// another one at once.
package record
