// Package sourcetest tests sources and their readers.
//
// It may import sources, sources/tape, internal/ground/backoff.
//
// [Script] is a source that does what a test demands: it reports pushed changes, fails, hangs, panics or falls silent.
// It uses time.Now, so that it runs inside and outside of synctest bubbles.
//
// [Run] is the suite that every source must pass, on a real backend. It checks what the interface cannot express: the
// first Change of each scope has Relists, one Synced follows each Relists, proof of life is reported only if the server
// answered, contexts are obeyed, Close waits for everything, and nothing that was sent changes later.
//
// [Watch] runs a source under a Hub and gives a [Witness], which waits for the events, rows
// and states that a test expects.
package sourcetest
