package headless

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// FindNode waits as Find does and returns the state in which a space of the only source was read, and whether it exists.
func FindNode(ctx context.Context, feed Feed, space string, timeout time.Duration) (s *sources.State, exists bool, err error) {
	if s, err = Settle(ctx, feed, timeout, nil, time.Time{}); err != nil {
		return nil, false, fmt.Errorf("looking: %w", err)
	}
	if err := missing(s); err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(s.Scopes, func(c sources.Scope) bool { return c.Name == space })
	return s, i >= 0 && !s.Scopes[i].About.Absent, nil
}

// Node is a coordination node as its server describes it, with what is known of its use.
type Node struct {
	Ref         sources.Ref // without a name
	Owner       string      // a user of the server
	Incarnation string
	Settings    [][2]string // names, and values as people write them; "": left to the service
	Known       int         // primitives whose names are known and that exist
	Users       []string    // those that are owned or awaited, for people
	Owners      int
	Waiters     int
}

type nodeJSON struct {
	V           int               `json:"v"`
	At          *string           `json:"at"`
	Source      string            `json:"source"`
	Namespace   string            `json:"namespace"`
	Owner       *string           `json:"owner"`
	Incarnation *string           `json:"incarnation"`
	Settings    map[string]string `json:"settings"`
	Known       int               `json:"known"`
	Used        int               `json:"used"`
	Owners      int               `json:"owners"`
	Waiters     int               `json:"waiters"`
}

// WriteNode writes one object.
func WriteNode(out io.Writer, n Node, f Format) error {
	if f == JSON {
		line := nodeJSON{
			V: version, At: instant(time.Now()), Source: text(n.Ref.Source), Namespace: text(n.Ref.Space), Owner: orNull(n.Owner), Incarnation: orNull(n.Incarnation),
			Settings: map[string]string{}, Known: n.Known, Used: len(n.Users), Owners: n.Owners, Waiters: n.Waiters,
		}
		for _, one := range n.Settings {
			if one[1] != "" {
				line.Settings[one[0]] = one[1]
			}
		}
		return writeLine(out, line)
	}
	var b strings.Builder
	line := func(what, is string) { fmt.Fprintf(&b, "%-22s %s\n", what, is) }
	line("node", format.Clean(n.Ref.Space, maxText))
	line("owner of the node", cmp.Or(format.Clean(n.Owner, maxText), "?"))
	for _, one := range n.Settings {
		line(one[0], cmp.Or(one[1], "left to the service"))
	}
	line("known semaphores", fmt.Sprintf("%d, of which %d are owned or awaited (YDB lists none, so there may be others)", n.Known, len(n.Users)))
	line("owners, waiters", fmt.Sprintf("%d, %d", n.Owners, n.Waiters))
	for _, user := range n.Users {
		line("in use", user)
	}
	return writeText(out, b.String())
}
