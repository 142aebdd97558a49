// Package app is the program: it turns arguments, the environment and a config file
// into sources, runs them under a Hub, and shows that Hub on the screen, as one look,
// or as a stream of changes. It also owns and leads in the foreground (package foreground),
// and runs the demo (package demo).
//
// Main takes everything that belongs to the process (arguments, streams, variables,
// signals) as an Environment, so that tests run the whole program in their own process.
//
// # Who writes where
//
// While the board is up nothing but its renderer writes to the terminal. Everything
// else that has something to say, the Redis library included, writes to one log file
// in the state directory. Errors come out once, at the end, on standard error, as
// sentences that say what to do.
//
// # How it ends
//
// SIGINT, SIGTERM, SIGHUP and SIGXCPU end the context of the command. So do the signals that
// end a Go program with the stacks of its goroutines, as SIGQUIT (also as ctrl-\ on the
// board) and SIGABRT: the stacks of the instant are printed when the terminal is restored,
// and the exit code is 128 and the signal's number, as shells have it. A second signal ends
// the process as soon as the terminal is restored and what is held is given back, whatever
// else goes on. SIGKILL, and a fatal error of Go's runtime, can do neither: leases run out,
// and the terminal needs reset(1). All other signals change nothing.
//
// A command that does not come back in time, because whoever reads its output
// has stopped reading, is abandoned. A panic in a goroutine or timer of ours, wherever it
// was started (see package spawn), ends the context too, so that the screen is put back and
// what is held is given back before one sentence says so; the log has the stack. Only the
// sources contain their own: one that has a defect is down, and the others go on.
//
// The exit codes are in exitcode.go; internal/help/exit-codes.md has what each means.
//
// # Backends
//
// Package backends has the one list of them: nothing here branches on a backend; names
// of backends stand in examples of the help and in the demo.
package app
