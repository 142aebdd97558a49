package operate

import (
	"cmp"
	"fmt"
	"slices"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

const readOnlyText = "the config says read_only for this source: only without that can coordtop act on it"

// Choices lists the actions for a row: first the possible ones, then the impossible ones with the reason. It does not
// check whether writing is armed; Start does.
func (o *Operator) Choices(row *sources.Row) []action.Choice {
	if row == nil {
		return nil
	}
	b, s := o.options.Backends[row.Source], o.view.State()
	o.mu.Lock()
	ours := o.oursLocked(row.Ref)
	o.mu.Unlock()
	return b.choices(row, s, ours)
}

func (b *Backend) choices(row *sources.Row, s *sources.State, ours *action.Holding) []action.Choice {
	var list []action.Choice
	for _, d := range action.Verbs() {
		switch v := d.Verb; {
		case v == action.Crash && b.Crash == nil, v == action.CancelWait && row.Queue.Len == 0 && b.never(v) != "", d.Group == action.Provisions && !b.Provisions, d.Space && (b.Nodes == nil || d.Text == ""):
		default:
			list = append(list, action.Choice{Verb: v, Not: cmp.Or(b.notRow(v, row, s, ours), b.notOwners(v, row, ours))})
		}
	}
	possible := func(c action.Choice) bool { return c.Not == "" }
	impossible := slices.DeleteFunc(slices.Clone(list), possible)
	return append(slices.DeleteFunc(list, func(c action.Choice) bool { return !possible(c) }), impossible...)
}

// notRow returns the reason why a verb is impossible for a row of s, apart from its owners (see notOwners); "" if it
// is possible. ours is our holding of the row, or nil.
func (b *Backend) notRow(v action.Verb, row *sources.Row, s *sources.State, ours *action.Holding) string {
	group := action.Of(v).Group
	switch {
	case b.Type == "":
		return "coordtop cannot send anything to this source"
	case b.ReadOnly:
		return readOnlyText
	case v == action.Resign && ours == nil:
		return notOurs(row, "coordtop gives up only what it took")
	case v == action.Resign:
		return ""
	case v == action.Proclaim:
		return b.notProclaimed(row, ours)
	case !row.Fresh(s):
		return "what is shown of it is old, since its source is silent: try again when it answers"
	case group == action.Provisions && b.never(v) != "":
		return b.never(v)
	case group == action.Provisions:
		return notProvisioned(v, row)
	case row.Absent && row.NoSpace:
		return clean(row.Note) + ": create the node first, or check its path"
	case row.Absent:
		return cmp.Or(clean(row.Note), "it does not exist") + ": create it first"
	case row.Note != "" && group == action.Ends:
		return "it cannot be read as a lock (" + clean(row.Note) + "), so its owner is not known"
	case row.Note != "":
		return "it cannot be read as a lock (" + clean(row.Note) + "): only its own program can take it; a narrower pattern leaves it out"
	case group == action.Ends:
		return b.never(v)
	case group != action.Claims:
		return "coordtop has no way to do this: ask its owner"
	case ours != nil && ours.Waiting:
		return "we wait for it already: resign calls that off"
	case ours != nil:
		return "ours already: resign gives it up"
	}
	return b.notTaken(v, row)
}

// notOwners returns the reason why a verb is impossible because of the owners or waiters of a row; "" if it is
// possible.
func (b *Backend) notOwners(v action.Verb, row *sources.Row, ours *action.Holding) string {
	switch v {
	case action.Crash:
		return notOwned(row)
	case action.CancelWait:
		if len(row.Queue.Waiters) == 0 {
			return "no waiter is known"
		}
	case action.Delete:
		return inUse(row)
	case action.Release:
		not := notOwned(row)
		for i := range row.Owners {
			why := b.notReleased(row, &row.Owners[i], ours)
			if why == "" {
				return ""
			}
			not = cmp.Or(not, why)
		}
		return not
	case action.Try:
		return b.notTried(row)
	case action.Acquire, action.Campaign:
		return b.neverFree(row, ours)
	}
	return ""
}

// neverFree returns the reason why a wait for a row would never end; "" if it may end.
func (b *Backend) neverFree(row *sources.Row, ours *action.Holding) string {
	if b.Caps.FIFO || len(row.Owners) == 0 || !row.Owners[0].NoExpiry {
		return ""
	}
	text := "its owner's lease has no end, so it will not become free by itself: its owner has to release it"
	if b.notOwners(action.Release, row, ours) == "" {
		text += ", or a force-release ends it"
	}
	return text
}

// notTaken returns the reason why a claim of the row is not possible; "" if it is possible.
func (b *Backend) notTaken(v action.Verb, row *sources.Row) string {
	switch {
	case v == action.Acquire && row.Kind == sources.KindElection:
		return "an election is led: campaign for it"
	case v == action.Campaign && row.Kind != sources.KindElection:
		return "only an election is led: acquire it"
	case row.Kind == sources.KindSemaphore && !b.Caps.Semaphore, row.Kind == sources.KindElection && !b.Caps.Election:
		return fmt.Sprintf("%s has no %v that coordtop could take", b.Type, row.Kind)
	}
	if b.Refuses != nil {
		if why := b.Refuses(row.Primitive); why != "" {
			return clean(why)
		}
	}
	return ""
}

// notTried returns the reason why a try would miss; "" if it may succeed.
func (b *Backend) notTried(row *sources.Row) string {
	if len(row.Owners) == 0 || row.Kind == sources.KindSemaphore {
		return ""
	}
	if notExclusive(row.Owners) && b.shares(row.Kind) {
		return ""
	}
	return "owned by " + action.OwnerText(row.Owners[0].Label, row.Owners[0].ID)
}

// notExclusive reports whether all owners share it.
func notExclusive(owners []sources.Owner) bool {
	return !slices.ContainsFunc(owners, func(w sources.Owner) bool { return w.Mode != sources.Shared })
}

func (b *Backend) notProclaimed(row *sources.Row, ours *action.Holding) string {
	switch {
	case row.Kind != sources.KindElection:
		return "only a leader proclaims"
	case ours == nil:
		return notOurs(row, "only the leader proclaims, and coordtop does not lead it")
	case ours.Waiting:
		return "we do not lead yet: proclaim once we do"
	case b.Caps.MaxData == 0:
		return "leaders carry no data on " + b.Type
	}
	return ""
}

// notOwned returns the reason why a row has no owner for the verb to act on; "" if it has one.
func notOwned(row *sources.Row) string {
	switch {
	case len(row.Owners) > 0:
		return ""
	case row.OwnersHow == sources.Unknown:
		return "the server does not tell who owns it"
	}
	return "nobody owns it"
}

func notOurs(row *sources.Row, owned string) string {
	switch {
	case len(row.Owners) > 0:
		return "not ours: " + owned
	case row.OwnersHow == sources.Unknown:
		return "not ours"
	}
	return "not ours: nobody owns it"
}

// clean returns a text from outside in a form that is safe to print in a sentence.
func clean(s string) string { return format.Clean(s, 200) }
