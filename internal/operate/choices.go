package operate

import (
	"cmp"
	"fmt"
	"slices"

	"coordtop/internal/action"
	"coordtop/internal/format"
	"coordtop/sources"
)

const readOnlyText = "the config says read_only for this source: only without that can coordtop act on it"

// Choices lists what can be done to a row, possible actions first, the impossible ones
// with the reason. That writing is not armed is no reason here: Start looks at that.
func (o *Operator) Choices(row *sources.Row) []action.Choice {
	if row == nil {
		return nil
	}
	b := o.o.Backends[row.Source]
	o.mu.Lock()
	defer o.mu.Unlock()
	var list []action.Choice
	for _, d := range action.Verbs() {
		switch v := d.Verb; {
		case v == action.Crash && b.Crash == nil, v == action.CancelWait && row.Queue.Len == 0 && b.never(v) != "", d.Group == action.Provisions && !b.Provisions, v == action.CreateNode && b.CreateNode == nil:
		default:
			list = append(list, action.Choice{Verb: v, Not: o.notLocked(v, row, o.view.State())})
		}
	}
	slices.SortStableFunc(list, func(a, b action.Choice) int {
		switch {
		case (a.Not == "") == (b.Not == ""):
			return 0
		case a.Not == "":
			return -1
		}
		return 1
	})
	return list
}

// notLocked is why a verb cannot be done to a row of s; "": it can.
func (o *Operator) notLocked(v action.Verb, row *sources.Row, s *sources.State) string {
	b, ok := o.o.Backends[row.Source]
	switch {
	case !ok:
		return "coordtop cannot send anything to this source"
	case b.ReadOnly:
		return readOnlyText
	}
	ours, group := o.holdingLocked(row.Ref), action.Of(v).Group
	switch v {
	case action.Resign:
		if ours == nil {
			return notOurs(row, "coordtop gives up only what it took")
		}
		return ""
	case action.Proclaim:
		return notProclaimed(&b, row, ours)
	}
	switch {
	case !row.Fresh(s):
		return "what is shown of it is old, since its source is silent: try again when it answers"
	case group == action.Provisions && b.never(v) != "":
		return b.never(v)
	case group == action.Provisions:
		return notProvisioned(&b, v, row)
	case row.Absent:
		return notThere(row.NoSpace, row)
	case row.Note != "" && group == action.Ends:
		return "it cannot be read as a lock (" + clean(row.Note) + "), so its owner is not known"
	case row.Note != "":
		return "it cannot be read as a lock (" + clean(row.Note) + "): only its own program can take it; a narrower pattern leaves it out"
	case v == action.Crash:
		return notCrashed(&b, row)
	case group == action.Ends && b.never(v) != "":
		return b.never(v)
	case group == action.Ends:
		return o.notForcedLocked(&b, v, row)
	case group != action.Claims:
		return "coordtop has no way to do this: ask its owner"
	case ours != nil && ours.waiting:
		return "we wait for it already: resign calls that off"
	case ours != nil:
		return "ours already: resign gives it up"
	}
	not := notTaken(&b, v, row)
	if not == neverFree && o.notLocked(action.Release, row, s) == "" {
		return not + ", or a force-release ends it"
	}
	return not
}

// notThere is why nothing can be taken that does not exist.
func notThere(noSpace bool, row *sources.Row) string {
	if noSpace {
		return clean(row.Note) + ": create the node first, or check its path"
	}
	return cmp.Or(clean(row.Note), "it does not exist") + ": create it first"
}

const neverFree = "its owner's lease has no end, so it will not become free by itself: its owner has to release it"

// notTaken is why a verb that takes the row is not possible.
func notTaken(b *Backend, v action.Verb, row *sources.Row) string {
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
	if v == action.Try {
		return notTried(b, row)
	}
	if !b.Caps.FIFO && len(row.Owners) > 0 && row.Owners[0].NoExpiry {
		return neverFree
	}
	return ""
}

// notTried is why a try would only miss.
func notTried(b *Backend, row *sources.Row) string {
	if len(row.Owners) == 0 || row.Kind == sources.KindSemaphore {
		return ""
	}
	if notExclusive(row.Owners) && b.shares(row.Kind) {
		return ""
	}
	return "owned by " + ownerText(row.Owners[0].Label, row.Owners[0].ID)
}

// notExclusive says that no owner has it alone.
func notExclusive(owners []sources.Owner) bool {
	return !slices.ContainsFunc(owners, func(w sources.Owner) bool { return w.Mode != sources.Shared })
}

func notProclaimed(b *Backend, row *sources.Row, ours *holding) string {
	switch {
	case row.Kind != sources.KindElection:
		return "only a leader proclaims"
	case ours == nil:
		return notOurs(row, "only the leader proclaims, and coordtop does not lead it")
	case ours.waiting:
		return "we do not lead yet: proclaim once we do"
	case b.Caps.MaxData == 0:
		return "leaders carry no data on " + b.Type
	}
	return ""
}

func notCrashed(b *Backend, row *sources.Row) string {
	if b.Crash == nil {
		return "only in the demo"
	}
	return notOwned(row)
}

// notOwned is why a row has no owner that anything could be done to; "": it has one.
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

// ownerText names an owner for people.
func ownerText(label, id string) string {
	if label == "" {
		label = id
	}
	if label == "" {
		return "nobody"
	}
	return clean(label)
}

// clean makes other people's text fit for a sentence.
func clean(s string) string { return format.Clean(s, 200) }
