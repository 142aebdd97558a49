package sources_test

import (
	"testing"

	"coordtop/sources"
)

func TestNobodyIsNextWhileOthersKeepIt(t *testing.T) {
	t.Parallel()
	owner := func(id string, m sources.Mode, permits uint64) sources.Owner {
		return sources.Owner{ID: id, Session: "s" + id, Mode: m, Permits: permits}
	}
	waiter := func(id string, m sources.Mode, permits uint64) sources.Waiter {
		return sources.Waiter{ID: id, Session: "s" + id, Label: id, Mode: m, Permits: permits}
	}
	const x, s = sources.Exclusive, sources.Shared
	for name, c := range map[string]struct {
		kind         sources.Kind
		limit, taken uint64
		owners       []sources.Owner
		waiters      []sources.Waiter
		how          sources.Known
		leaves       string // IDs and sessions, one letter each: a capital one is a session
		want         string
	}{
		"one of one":                                     {kind: sources.KindMutex, owners: []sources.Owner{owner("a", x, 0)}, waiters: []sources.Waiter{waiter("w", x, 0)}, leaves: "a", want: "w is first in the queue"},
		"one of one, without a queue":                    {kind: sources.KindMutex, owners: []sources.Owner{owner("a", x, 0)}, leaves: "a", want: ""},
		"of an election":                                 {kind: sources.KindElection, owners: []sources.Owner{owner("a", x, 0)}, waiters: []sources.Waiter{waiter("w", x, 0), waiter("v", x, 0)}, leaves: "a", want: "w is first in the queue"},
		"one of three who share":                         {kind: sources.KindMutex, owners: []sources.Owner{owner("a", s, 0), owner("b", s, 0), owner("c", s, 0)}, waiters: []sources.Waiter{waiter("w", x, 0)}, leaves: "a", want: "nobody, as long as 2 more of its owners keep it"},
		"one of two who share":                           {kind: sources.KindMutex, owners: []sources.Owner{owner("a", s, 0), owner("b", s, 0)}, waiters: []sources.Waiter{waiter("w", x, 0)}, leaves: "b", want: "nobody, as long as 1 more of its owners keeps it"},
		"one of two who share, without a queue":          {kind: sources.KindMutex, owners: []sources.Owner{owner("a", s, 0), owner("b", s, 0)}, how: sources.Unknown, leaves: "b", want: "nobody, as long as 1 more of its owners keeps it"},
		"one of two of an unknown kind":                  {kind: sources.KindUnknown, owners: []sources.Owner{owner("a", s, 0), owner("b", s, 0)}, waiters: []sources.Waiter{waiter("w", x, 0)}, leaves: "b", want: "nobody, as long as 1 more of its owners keeps it"},
		"all who share":                                  {kind: sources.KindMutex, owners: []sources.Owner{owner("a", s, 0), owner("b", s, 0)}, waiters: []sources.Waiter{waiter("w", x, 0)}, leaves: "ab", want: "w is first in the queue"},
		"all of one session":                             {kind: sources.KindMutex, owners: []sources.Owner{{ID: "a", Session: "S", Mode: x}, {ID: "b", Session: "S", Mode: s}}, waiters: []sources.Waiter{waiter("w", x, 0)}, leaves: "S", want: "w is first in the queue"},
		"the writer of two modes, while a reader waits":  {kind: sources.KindMutex, owners: []sources.Owner{owner("a", x, 0), owner("b", s, 0)}, waiters: []sources.Waiter{waiter("r", s, 0)}, leaves: "a", want: "r is first in the queue"},
		"the writer of two modes, while a writer waits":  {kind: sources.KindMutex, owners: []sources.Owner{owner("a", x, 0), owner("b", s, 0)}, waiters: []sources.Waiter{waiter("w", x, 0)}, leaves: "a", want: "nobody, as long as 1 more of its owners keeps it"},
		"a reader, while the writer stays":               {kind: sources.KindMutex, owners: []sources.Owner{owner("a", x, 0), owner("b", s, 0)}, waiters: []sources.Waiter{waiter("r", s, 0)}, leaves: "b", want: "nobody, as long as 1 more of its owners keeps it"},
		"one of two, and the other waits to be a writer": {kind: sources.KindMutex, owners: []sources.Owner{owner("a", s, 0), owner("b", s, 0)}, waiters: []sources.Waiter{waiter("b", x, 0)}, leaves: "a", want: "b is first in the queue"},
		"a session that waits too":                       {kind: sources.KindMutex, owners: []sources.Owner{{ID: "a", Session: "S", Mode: x}}, waiters: []sources.Waiter{{ID: "q", Session: "S", Label: "q"}, waiter("w", x, 0)}, leaves: "S", want: "w is first in the queue"},
		"the order is inferred":                          {kind: sources.KindMutex, owners: []sources.Owner{owner("a", x, 0)}, waiters: []sources.Waiter{waiter("w", x, 0)}, how: sources.Inferred, leaves: "a", want: "probably w: the order of the queue is inferred"},

		"of a full semaphore":                {kind: sources.KindSemaphore, limit: 3, taken: 3, owners: []sources.Owner{owner("a", x, 1), owner("b", x, 2)}, waiters: []sources.Waiter{waiter("w", x, 1)}, leaves: "a", want: "w is first in the queue"},
		"of a full semaphore, and too few":   {kind: sources.KindSemaphore, limit: 3, taken: 3, owners: []sources.Owner{owner("a", x, 1), owner("b", x, 2)}, waiters: []sources.Waiter{waiter("w", x, 2)}, leaves: "a", want: "nobody: w, which is first in the queue, needs 2, and only 1 of 3 permits would be free"},
		"of a full semaphore, and enough":    {kind: sources.KindSemaphore, limit: 3, taken: 3, owners: []sources.Owner{owner("a", x, 1), owner("b", x, 2)}, waiters: []sources.Waiter{waiter("w", x, 2)}, leaves: "b", want: "w is first in the queue"},
		"with what is free already, too few": {kind: sources.KindSemaphore, limit: 5, taken: 3, owners: []sources.Owner{owner("a", x, 1), owner("b", x, 2)}, waiters: []sources.Waiter{waiter("w", x, 4)}, leaves: "a", want: "nobody: w, which is first in the queue, needs 4, and only 3 of 5 permits would be free"},
		"with what is free already, enough":  {kind: sources.KindSemaphore, limit: 5, taken: 3, owners: []sources.Owner{owner("a", x, 1), owner("b", x, 2)}, waiters: []sources.Waiter{waiter("w", x, 3)}, leaves: "a", want: "w is first in the queue"},
		"one permit, told or not":            {kind: sources.KindSemaphore, limit: 1, taken: 1, owners: []sources.Owner{owner("a", x, 0)}, waiters: []sources.Waiter{waiter("w", x, 0)}, leaves: "a", want: "w is first in the queue"},
		"more taken than there are":          {kind: sources.KindSemaphore, limit: 2, taken: 4, owners: []sources.Owner{owner("a", x, 1), owner("b", x, 3)}, waiters: []sources.Waiter{waiter("w", x, 1)}, leaves: "a", want: "nobody: w, which is first in the queue, needs 1, and only 0 of 2 permits would be free"},
		"owners that are not told":           {kind: sources.KindSemaphore, limit: 2, taken: 2, waiters: []sources.Waiter{waiter("w", x, 2)}, leaves: "", want: "w is first in the queue"},
		"a semaphore without a limit":        {kind: sources.KindSemaphore, limit: sources.NoLimit, taken: 1, owners: []sources.Owner{owner("a", x, 1), owner("b", x, 1)}, waiters: []sources.Waiter{waiter("w", x, 9)}, leaves: "a", want: "w is first in the queue"},
	} {
		how := c.how
		if how == sources.Unknown && len(c.waiters) > 0 {
			how = sources.Told
		}
		p := &sources.Primitive{
			Kind: c.kind, Limit: c.limit, LimitHow: sources.Told, Taken: c.taken, Owners: c.owners,
			Queue: sources.Queue{How: how, Len: len(c.waiters), Waiters: c.waiters},
		}
		leaves := func(id, session string) bool {
			for _, l := range c.leaves {
				if string(l) == id || string(l) == session {
					return true
				}
			}
			return false
		}
		got := p.NextText(leaves, func(w *sources.Waiter) string { return w.Label })
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if len(p.Queue.Waiters) != len(c.waiters) {
			t.Errorf("%s: the row was changed", name)
		}
	}
}
