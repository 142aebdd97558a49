// Package job runs a command while a lease lasts, and ends it before the lease does.
//
// It may import coord, internal/ground/*.
//
//	                     trust ends        kill instant   WindowEnd
//	---- command runs ------|---- grace ------|---------------|---> another may own it
//	                        TERM (if grace)   KILL
//
// Run starts the command in a process group of its own, follows the renewals of the lease, passes signals on, and
// returns when the command and all that it started have ended. The kill instant is the end of trust plus Options.Grace,
// and never later than Lease.WindowEnd: a caller that wants a grace opens its session with a Margin of the grace plus
// the default margin. If the service reports the loss, KILL is sent at once.
//
// # What ends the command
//
//   - The lease ends: see above. Result.Lost has the cause.
//   - It ends by itself: then KILL ends whatever it left behind, before Run returns and so before the release.
//   - A signal to us is passed on. The command may handle it, or ignore it; Run goes on until it ends.
//   - The context of Run ends: KILL.
//
// Processes that left the group (setsid, a double fork) become children of this process and are found there. Whatever
// else the program starts while Run runs must therefore be started by package subprocess, which marks it; Run kills all
// other children. Only one Run may run at a time.
//
// If processes cannot be ended (those of another user, those that wait for a broken disk), Result.Left is true, and the
// caller must let the lease run out instead of releasing it.
//
// # The watchdog
//
// A second process of this program kills the command at the kill instant, also if this process is stopped then, and as
// soon as this process has ended in whatever way. It finds the processes by their group and by COORDTOP_DEADLINE_FILE
// in their environment. With KeepLinks it has our connections, so that the server does not see our end before the
// command is dead. The main function calls Watchdog before anything else. If the watchdog is killed, another one is
// started at once (it takes 25 ms); if that fails, the command is ended. The kill instant is in memory that both share,
// on the boot-time clock. It counts from the sending of the request that confirmed the lease, so that it is right even if
// all processes were stopped meanwhile.
//
// # The terminal
//
// The command runs in the background of our terminal. It gets the terminal when it was stopped because it read it or
// changed it, if we are in the foreground, and if our group has no processes but us and those that wait for us (a
// script); else a sentence explains why it is stopped. ctrl+z stops the command, and then our group, as the shell
// expects; fg continues both. If the lease is over by then, the command is killed while it is stopped. A shell brings a
// running job to the foreground without a signal, so a command that waits for the terminal may get it 0.2 s late.
//
// # Outside Linux
//
// There is no watchdog: if this process is killed or stopped, the command runs on. Processes that leave the group are
// not found, and a command that reads the terminal stays stopped. It was never run on darwin.
//
// # Signals
//
// Signals returns those that Run handles. Without Options.Signals, Run receives them itself while it runs. A caller that
// has handlers of its own gives Run a channel, so that each signal reaches exactly one of them. A signal that the parent
// process made us ignore (nohup) stays ignored, also by the command.
//
// # What the command knows
//
// Its environment has COORDTOP_NAME, COORDTOP_OWNER, COORDTOP_FENCE (absent without a fence) and
// COORDTOP_DEADLINE_FILE. That file has one line: the end of trust on the clock that runs since the boot of the machine,
// in nanoseconds, and as a time of day. It is replaced at each renewal and removed at the end. CheckDeadline reads it.
package job
