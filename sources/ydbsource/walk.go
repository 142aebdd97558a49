package ydbsource

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

const (
	walkLimit = 15 * time.Second // for one walk
	mostNodes = 1000             // maximum number of found nodes; in a database with more they must be named
)

// walks has the pauses between two walks.
var walks = backoff.Policy{Min: time.Minute, Max: time.Minute}

// walk searches the coordination nodes of the database repeatedly, and watches each. The database is a scope of its
// own, which has no rows.
func (l *link) walk() error {
	ctx, scope := l.Context(), l.source.o.Client.Database
	known := map[string]bool{}
	pauses := walks.Start()
	begun, synced := false, false
	for {
		found, warnings, err := l.findNodes(ctx, known)
		if ctx.Err() != nil {
			return nil
		}
		if err := l.watch(found); err != nil {
			return err
		}
		if errors.As(err, new(*sources.Problem)) {
			return err
		}
		if err != nil {
			l.lost(scope, err)
			warnings = append(warnings, format.Clean(Explain(err, l.source.o.Client, true).Error(), 300))
		} else {
			l.up(scope)
			l.Answered(scope, time.Now())
		}
		c := sources.Change{Scope: scope, Relists: !begun, Synced: !synced && err == nil, About: &sources.About{
			Mode: modeWalk, Sampling: walks.Max, Warnings: warnings,
			Config: []sources.Attr{{Key: "coordination nodes", Value: strconv.Itoa(len(known))}},
		}}
		begun, synced = true, synced || c.Synced
		if err := l.Send(c); err != nil {
			return err
		}
		if pauses.Wait(ctx) != nil {
			return nil
		}
	}
}

// findNodes walks once and returns the nodes that are not in known. It returns an error if nothing could be read.
func (l *link) findNodes(ctx context.Context, known map[string]bool) (found, warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, walkLimit)
	defer cancel()
	unread, first := 0, ""
	for path, bad := range l.client.Nodes().List(ctx, "") {
		switch {
		case bad != nil && path == l.source.o.Client.Database && answeredWith(bad, Ydb.StatusIds_SCHEME_ERROR):
			return nil, nil, noDatabase(l.source.o.Client, bad)
		case bad != nil && path == l.source.o.Client.Database && !answered(bad):
			return nil, nil, bad
		case bad != nil:
			if unread++; unread == 1 {
				first = format.Clean(bad.Error(), 300)
			}
		case known[path]:
		case len(known) >= mostNodes:
			return found, append(warnings, fmt.Sprintf("more than %d coordination nodes: name those to watch with node=", mostNodes)), nil
		default:
			known[path] = true
			found = append(found, path)
		}
	}
	if unread > 0 {
		warnings = append(warnings, fmt.Sprintf("what is in directories that cannot be read is not shown (%d, the first is %s)", unread, first))
	}
	if len(known) == 0 {
		warnings = append(warnings, "no coordination node was found: name one with node=")
	}
	return found, warnings, nil
}
