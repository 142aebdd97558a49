package headless

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// FindNode waits as Find does until the space of the only source was read, and returns its scope. If the space does not
// exist, the error wraps ErrNotFound, and the State is valid.
func FindNode(ctx context.Context, feed Feed, space string, timeout time.Duration) (*sources.State, *sources.Scope, error) {
	s, err := Settle(ctx, feed, timeout, nil, time.Time{})
	if err != nil {
		return nil, nil, fmt.Errorf("looking: %w", err)
	}
	if err := missing(s); err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(s.Scopes, func(c sources.Scope) bool { return c.Name == space })
	if i < 0 || s.Scopes[i].About.Absent {
		return s, nil, fmt.Errorf("%s: %w: there is no such coordination node", format.Clean(space, maxText), ErrNotFound)
	}
	return s, &s.Scopes[i], nil
}

type nodeJSON struct {
	V           int               `json:"v"`
	At          *string           `json:"at"`
	Source      string            `json:"source"`
	Namespace   string            `json:"namespace"`
	Incarnation *string           `json:"incarnation"`
	Settings    map[string]string `json:"settings"`
	Known       int               `json:"known"`
	Used        int               `json:"used"`
	Owners      int               `json:"owners"`
	Waiters     int               `json:"waiters"`
}

// WriteNode writes a space. users are its primitives that are owned or awaited, for people.
func WriteNode(out io.Writer, s *sources.State, c *sources.Scope, users []string, f Format) error {
	n := nodeJSON{
		V: version, At: instant(time.Now()), Source: text(c.Source), Namespace: text(c.Name), Incarnation: orNull(c.About.Incarnation),
		Settings: attrsOf(c.About.Config), Used: len(users),
	}
	for _, row := range s.Rows {
		if row != nil && !row.Absent {
			n.Known, n.Owners, n.Waiters = n.Known+1, n.Owners+len(row.Owners), n.Waiters+row.Queue.Len
		}
	}
	if f == JSON {
		return writeLine(out, n)
	}
	var b strings.Builder
	line := func(what, is string) { fmt.Fprintf(&b, "%-22s %s\n", what, format.Clean(is, 400)) }
	line("node", c.Name)
	for _, a := range c.About.Config {
		line(a.Key, a.Value)
	}
	line("known semaphores", fmt.Sprintf("%d, of which %d are owned or awaited (YDB lists none, so there may be others)", n.Known, n.Used))
	line("owners, waiters", fmt.Sprintf("%d, %d", n.Owners, n.Waiters))
	for _, user := range users {
		line("in use", user)
	}
	return writeText(out, b.String())
}
