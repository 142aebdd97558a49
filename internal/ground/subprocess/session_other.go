//go:build !linux

package subprocess

import "syscall"

// newSession puts a program into a session and a process group of its own, without a terminal.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
