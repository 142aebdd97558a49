package headless

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/sources"
)

// one returns the rows that go by name, or with "" all; where several do and exactly one of them is
// in space, that one.
func one(s *sources.State, name, space string) []*sources.Row {
	list := rows(s, nil)
	if name != "" {
		list = sources.NamedRows(list, name, false)
	}
	near := slices.DeleteFunc(slices.Clone(list), func(r *sources.Row) bool { return r.Space != space })
	if len(near) == 1 {
		return near
	}
	return list
}

// Find waits as Get does and returns the one row that goes by name, or with "" the one row
// there is; selects is that of GetOptions. Where several do and exactly one of them is in space, it is that one. The
// errors are those of Get; ErrAmbiguous names the candidates.
func Find(
	ctx context.Context, feed Feed, name, space string, timeout time.Duration, selects func(typ string) string,
) (*sources.Row, error) {
	var names []string
	if name != "" {
		names = []string{name}
	}
	s, err := settle(ctx, feed, timeout, names, time.Time{})
	if err != nil {
		return nil, fmt.Errorf("looking: %w", err)
	}
	list := one(s, name, space)
	if len(list) == 1 {
		return list[0], nil
	}
	if err := missing(s); err != nil {
		return nil, err
	}
	if name != "" {
		return nil, checkNames(s, list, names)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the primitive that the URL names: %w; name it as %s", ErrNotFound, hints(s, selects))
	}
	return nil, fmt.Errorf("the primitive that the URL names: %w: %s", ErrAmbiguous, strings.Join(paths(list), ", "))
}
