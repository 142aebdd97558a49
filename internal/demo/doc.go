// Package demo starts private real servers, emulators of YDB and dflockd in this process, and candidates that really
// contend, each a process of its own. One lock is never released: only that needs a person.
//
// It may import coord, coord/*coord, internal/emulator/*, internal/localserver, internal/ground/backoff,
// internal/ground/spawn.
//
// The parent (Start) owns everything: it starts the servers side by side, starts each candidate as the hidden command
// CandidateCommand of the same binary, restarts those that end, and stops owners politely now and then, as a deployment
// does, so that their elections change hands without a loss. Only Crash kills a process: a demo that is left alone
// shows no other problem, and everything red after a crash comes from the crash. A server that is not installed is left
// out, and its Endpoint tells so. Stop ends everything and waits. If the parent is killed or crashes, each candidate
// reads the end of its standard input and exits, and localserver ends the servers and removes their folders.
//
// A candidate writes a line to standard output when it begins and stops owning: "owns", "waits". The parent needs only
// that to know whom to replace; the board reads the servers.
package demo
