//go:build !linux

package subprocess

import "syscall"

// NewSession puts a program into a session and a process group of its own, without a terminal.
func NewSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
