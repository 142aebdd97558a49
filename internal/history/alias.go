package history

import (
	"context"
	"strings"
	"time"

	"coordtop/sources"
)

// Alias is what a primitive whose name is a number was called last; the zero Alias: nothing.
type Alias struct {
	Text string
	How  sources.Known // Inferred: a guess
}

// aliasEvents is among how many last events of a primitive its alias is looked for: those about
// actions have none.
const aliasEvents = 20

// Aliases reads what refs are called; those without an alias are left out.
func Aliases(ctx context.Context, r EventReader, refs []sources.Ref) (map[sources.Ref]Alias, error) {
	aliases := map[sources.Ref]Alias{}
	for _, ref := range refs {
		if strings.Trim(ref.Name, "0123456789:-") != "" {
			continue
		}
		events, err := r.Events(ctx, time.Unix(1<<33, 0), aliasEvents, 0, EventFilter{Refs: []sources.Ref{ref}})
		if err != nil {
			return nil, err
		}
		for i := range events {
			if e := &events[i]; e.Alias != "" {
				aliases[ref] = Alias{e.Alias, e.AliasHow}
			}
		}
	}
	return aliases, nil
}
