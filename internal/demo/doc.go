// Package demo starts private real servers, emulators of YDB and dflockd in this process, and candidates that really
// contend, each in its own process. One lock is never released, which is the only problem for a person to solve.
//
// It may import coord, coord/*coord, internal/emulator/*, internal/localserver, internal/ground/backoff,
// internal/ground/spawn.
//
// The parent (Start) owns everything: it starts the servers side by side, starts each candidate as the hidden command
// CandidateCommand of the same binary, restarts those that end, and now and then stops an owner gracefully, as a
// deployment does, so that the leader changes without a loss. Except in the story, only Crash kills a process, so that
// everything red after a crash comes from the crash. A server that is not installed is left out, and its Endpoint has
// the error. Stop ends everything and waits. If the parent is killed or crashes, each candidate reads the end of its
// standard input and exits, and localserver ends the servers and removes their folders.
//
// A candidate writes a line to standard output when it begins and stops owning: "owns", "waits". From these lines the
// parent knows which owner to replace; the board reads the servers.
package demo
