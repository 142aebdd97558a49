// Package app is the program: it makes sources of arguments, the environment and a config file, runs them under a Hub,
// and shows the Hub on the board, prints it once, or prints its changes. It also owns and leads in the foreground
// (package foreground), and runs the demo (package demo).
//
// It may import coord, internal/*, internal/app/backends, internal/app/logfile, internal/app/manpage, internal/app/relayed, internal/history/*, internal/metrics/*,
// sources, sources/kit, sources/origin, sources/verdict, ui, ui/keys, ui/rows, internal/ground/*.
//
// Main takes everything that belongs to the process (arguments, streams, variables, signals) as an Environment, so that
// tests run the whole program in their own process.
//
// # The recording of a team
//
// With a store, `record` stands by, and records while it is elected (teamrecord.go): into a file, from which it copies to
// the store (teamstore.go). With --from, or team: in the config, commands and boards show what that recorder sees
// (following.go, package relayed). Package history describes the whole way.
//
// # Output
//
// While the board is up, only its renderer writes to the terminal. All other messages, including those of the Redis
// library, go to one log file in the state directory. Errors are printed once, at the end, to standard error, as
// sentences that tell what to do.
//
// # The end
//
// SIGINT, SIGTERM, SIGHUP and SIGXCPU end the context of the command. So do the signals that end a Go program with the
// stacks of its goroutines, as SIGQUIT (also as ctrl-\ on the board) and SIGABRT: the stacks from that instant are
// printed once the terminal is restored, and the exit code is 128 plus the number of the signal, as in shells. A second
// signal ends the process as soon as the terminal is restored and leases are given back, and waits for nothing else.
// After SIGKILL, and a fatal error of Go's runtime, leases run out, and the terminal needs reset(1). All other signals
// are ignored.
//
// A command that does not return in time, because nobody reads its output any more, is abandoned. A panic in a
// goroutine or timer of ours, wherever it was started (see package spawn), ends the context too, so that the terminal
// is restored and leases are given back before a sentence reports it; the log has the stack. Only sources contain
// their own panics: a source with a defect is down, and the others continue.
//
// The exit codes are in exitcode.go; internal/help/exit-codes.md has their meanings.
//
// # Backends
//
// Package backends has the one list of them. Nothing here branches on a backend; only examples of the help and the demo
// name one.
package app
