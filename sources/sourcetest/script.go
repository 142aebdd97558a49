package sourcetest

import (
	"context"

	"coordtop/sources"
)

// Script is a Source that does what a test tells it to.
type Script struct{}

// NewScript returns a Script that connects at once and has nothing to tell.
func NewScript() *Script { return &Script{} }

// Push queues changes: Next returns them in this order.
func (s *Script) Push(changes ...sources.Change) {}

// Fail lets Next return err once, after what was pushed before.
func (s *Script) Fail(err error) {}

// Connect is told by the script.
func (s *Script) Connect(ctx context.Context) error { return ctx.Err() }

// Next is told by the script.
func (s *Script) Next(ctx context.Context) (sources.Change, error) { return sources.Change{}, ctx.Err() }

// Close is told by the script.
func (s *Script) Close() error { return nil }
