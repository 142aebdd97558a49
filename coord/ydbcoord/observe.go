package ydbcoord

import (
	"context"

	"coordtop/coord"
)

// Observe opens a session of the driver's TTL that is there to read and follow, with a
// description for people. Like any session it is to be renewed, and ended with Close or
// Abandon.
func (d *Driver) Observe(ctx context.Context, description string) (*Session, error) {
	return d.OpenSession(ctx, coord.SessionOptions{Description: description})
}
