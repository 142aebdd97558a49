// Package demo brings up a small world to look at: private real servers, emulators of
// YDB and dflockd in this process, and candidates that really contend, each a process of its own,
// and one lock that is never given back: the only thing of it that needs a person.
//
// The parent (Start) owns everything: it starts the servers side by side, starts each
// candidate as the hidden command CandidateCommand of the same binary, restarts those that
// end, and stops owners politely now and then, as a deployment does: their elections change
// hands without a loss. No process is killed but by Crash, so that a demo that is left alone
// stays calm, and what is red after a crash is the crash. A server that is not
// installed is left out, and said to be. Stop ends all of it and waits. If the parent dies
// without a word (SIGKILL, a crash), each candidate sees the end of its standard input and
// exits, and localserver ends the servers and removes their folders: nothing is left behind.
//
// A candidate tells its parent on standard output, a line each, when it begins and
// stops owning: "owns", "waits". The parent needs no more than that to know whom to
// replace; what people see comes from the server, as everywhere.
package demo
