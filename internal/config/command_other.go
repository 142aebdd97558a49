//go:build !linux

package config

import "syscall"

// newSession puts a command into a session and a process group of its own, without a terminal.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
