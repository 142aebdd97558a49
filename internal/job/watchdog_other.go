//go:build !linux

package job

import (
	"context"
	"time"
)

// watchdog does nothing here: if this process is killed or stopped, the command runs on.
type watchdog struct{}

type watching struct{ died chan struct{} }

func newWatchdog(*group, string, bool) (*watchdog, error) { return &watchdog{}, nil }

func (w *watchdog) set(time.Duration) {}

func (w *watchdog) start(context.Context) (*watching, error) { return &watching{}, nil }

func (w *watchdog) close() {}

func (p *watching) end() {}

// Watchdog reports that this process is no watchdog.
func Watchdog() (code int, was bool) { return 0, false }
