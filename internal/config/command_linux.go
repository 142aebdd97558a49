package config

import "syscall"

// newSession puts a command into a session and a process group of its own, without a
// terminal, and ends it with the thread that starts it, so that it does not outlive us
// however we end.
func newSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
