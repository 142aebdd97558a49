package demo

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// ErrNoCandidate is returned by Crash for an owner that is no candidate of this demo.
var ErrNoCandidate = errors.New("no candidate of this demo, so its process is not ours to end")

// Crash kills the candidate that an owner's label or id names, as a machine that loses its power
// would: it resigns nothing. It comes back by itself after some seconds. Only processes that
// this demo started can be meant. It does not wait for the end.
func (d *Demo) Crash(label, id string) error {
	who, _, _ := strings.Cut(label, " ") // what follows is what it does, or what the server adds
	for _, c := range d.members {
		if c.killIfNamed(who, id) {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", who, ErrNoCandidate)
}

// killIfNamed kills the process if that is its identity, or the server lists it by that id, and
// reports whether one is so.
func (c *member) killIfNamed(who, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd == nil || c.who != who && (!c.owns || id == "" || c.owner != id) {
		return false
	}
	c.signal(c.cmd, syscall.SIGKILL)
	return true
}
