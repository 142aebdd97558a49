package ydbsource

import (
	"time"

	"coordtop/internal/backoff"
	"coordtop/sources"
)

// describes are the pauses between two looks at a node without names.
var describes = backoff.Policy{Min: 10 * time.Second, Max: 10 * time.Second}

// describe shows a node of which no semaphore is named: that it is there, and its settings.
func (n *node) describe() error {
	ctx := n.link.Context()
	pauses := describes.Start()
	for {
		var c sources.Change
		err := n.settings(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			n.link.lost(n.state.path, err)
		default:
			n.link.up(n.state.path)
			n.link.Answered(n.state.path)
			c.Synced = n.state.complete()
			n.about.described()
			if n.absent {
				n.about.missing()
			}
		}
		c.About = n.about.changed(n)
		if err := n.send(c); err != nil {
			return err
		}
		_ = n.link.source.Rest(ctx, pauses.Next(), &n.state.refresh, nil, nil) // the loop asks ctx
		if n.state.reload(ctx); len(n.state.names) > 0 {
			return n.run()
		}
	}
}
