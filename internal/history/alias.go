package history

import (
	"context"
	"slices"
	"strings"
	"time"

	"coordtop/sources"
)

// Alias is the last name of a primitive whose name is a number. The zero Alias means that it has none.
type Alias struct {
	Text string
	How  sources.Known // Inferred: a guess
}

// Limits of Aliases. It reads the last aliasEvents events for each primitive that has no alias yet, but at most
// mostAliasEvents in all, and repeats this at most aliasTries times, until a read finds no alias.
const (
	aliasEvents     = 20
	mostAliasEvents = 20_000
	aliasTries      = 5
)

// Aliases reads the aliases of refs; refs without an alias are left out. One call for many refs costs as little as a
// call for one.
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
		if len(missing) == before { // the others have no alias, or had their last one long ago
			break
		}
	}
	return aliases, nil
}
