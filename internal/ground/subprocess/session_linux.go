package subprocess

import "syscall"

// NewSession puts a program into a session and a process group of its own, without a terminal. The kernel kills it
// with the thread that started it, so that it does not outlive us.
func NewSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
