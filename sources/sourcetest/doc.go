// Package sourcetest tests sources and what reads them.
//
// It may import sources, sources/tape, internal/ground/backoff.
//
// [Script] is a source that a test writes by hand: it tells what was pushed, fails, hangs,
// panics or falls silent when it is told to. It needs no clock but the real one, so it
// runs inside and outside of synctest bubbles.
//
// [Run] is the suite that every source must pass, on a real backend. It checks what the
// interface cannot say: the first Change of each scope carries the Gap, each Gap is
// followed by one Synced, proof of life is told only when the server answered, contexts
// are obeyed, Close joins everything, and nothing that was handed over changes later.
//
// [Watch] runs a source under a Hub and gives a [Witness], which waits for the events, rows
// and states that a test expects.
package sourcetest
