package history

import (
	"context"
	"slices"
	"strings"
	"time"

	"coordtop/sources"
)

// Alias is the last name of a primitive whose name is a number; the zero Alias: it has none.
type Alias struct {
	Text string
	How  sources.Known // Inferred: a guess
}

// Aliases reads the last events of all primitives that have no alias yet, 20 for each of them, at most so many times, and stops
// when a read finds none.
const (
	aliasEvents     = 20
	mostAliasEvents = 20_000
	aliasTries      = 5
)

// Aliases reads the aliases of refs; those without one are left out. All are asked for together: a question
// about one costs the same as one about all.
func Aliases(ctx context.Context, r EventReader, refs []sources.Ref) (map[sources.Ref]Alias, error) {
	aliases := map[sources.Ref]Alias{}
	missing := slices.DeleteFunc(slices.Clone(refs), func(ref sources.Ref) bool { return strings.Trim(ref.Name, "0123456789:-") != "" })
	for range aliasTries {
		if len(missing) == 0 {
			break
		}
		events, err := r.Events(ctx, time.Unix(1<<33, 0), min(aliasEvents*len(missing), mostAliasEvents), 0, EventFilter{Refs: missing})
		if err != nil {
			return nil, err
		}
		for i := range events {
			if e := &events[i]; e.Alias != "" {
				aliases[e.Ref] = Alias{e.Alias, e.AliasHow}
			}
		}
		before := len(missing)
		missing = slices.DeleteFunc(missing, func(ref sources.Ref) bool { return aliases[ref] != Alias{} })
		if len(missing) == before { // the others are called nothing, or were for the last time long ago
			break
		}
	}
	return aliases, nil
}
