package action

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Target is a row as it was when the person decided. The verb determines which part of it must be unchanged when the
// request is sent, see Pin.
type Target struct {
	Ref     sources.Ref
	Kind    sources.Kind
	Alias   string // alias that a person may type instead of the name, see sources.AliasName; "": none
	Owner   string // ID of the owner on screen; "": nobody owned it
	Label   string // the same owner, for people
	Fence   uint64 // 0: none known
	Guard   string // text that compare-and-act compares; "": the backend has none
	Mode    sources.Mode
	Permits uint64 // permits of that owner; 0: 1
	Absent  bool   // the primitive did not exist
	Sum     uint64 // sources.Blob.Sum of the primitive's own data
	Waiting bool   // Owner is a waiter
	Used    string // by all owners, see UseOf
}

// TargetOf returns the Target of a row and one of its owners. A nil o stands for no owner.
func TargetOf(row *sources.Row, o *sources.Owner) Target {
	t := Target{Ref: row.Ref, Kind: row.Kind, Absent: row.Absent, Sum: row.Data.Sum, Alias: sources.AliasName(row.Alias, row.AliasHow), Used: UseOf(usesOf(row))}
	if o != nil {
		t.Owner, t.Label, t.Fence, t.Guard = o.ID, o.Label, o.Fence, o.Guard
		t.Mode, t.Permits = o.Mode, o.Permits
	}
	return t
}

// UseOf returns a text that is the same for the same results of UseIn in any order.
func UseOf(uses []string) string {
	slices.Sort(uses)
	return strings.Join(uses, " ")
}

// UseIn returns the use of the primitive with a name by the owner with an ID.
func UseIn(name, owner string) string { return name + "/" + owner }

// usesOf returns the uses of a row by its owners.
func usesOf(row *sources.Row) (uses []string) {
	for i := range row.Owners {
		uses = append(uses, UseIn(row.Name, row.Owners[i].ID))
	}
	return uses
}

// TargetOfNode returns the Target of a space with the owners of everything in it, and the rows that are owned or
// awaited, for people.
func TargetOfNode(s *sources.State, source, space string) (t Target, users []string) {
	t.Ref = sources.Ref{Source: source, Space: space}
	var uses []string
	for _, row := range s.Rows {
		if row == nil || row.Source != source || row.Space != space || len(row.Owners)+row.Queue.Len == 0 {
			continue
		}
		text := OwnerText(row.Name, "")
		if len(row.Owners) > 0 {
			text += " owned by " + OwnersText(row.Owners)
		}
		if row.Queue.Len > 0 {
			text += fmt.Sprintf(" (%d wait)", row.Queue.Len)
		}
		users, uses = append(users, text), append(uses, usesOf(row)...)
	}
	t.Used = UseOf(uses)
	return t, users
}

// GoesBy reports whether the typed text is name, which stands for the target's name, or the target's alias.
func (t *Target) GoesBy(typed, name string) bool {
	return typed == name || t.Alias != "" && typed == t.Alias
}

// TargetOfWaiter returns the Target of a row and one of its waiters.
func TargetOfWaiter(row *sources.Row, w *sources.Waiter) Target {
	t := TargetOf(row, nil)
	t.Owner, t.Label, t.Guard, t.Mode, t.Permits, t.Waiting = w.ID, w.Label, w.Guard, w.Mode, w.Permits, true
	return t
}

// Pin selects the part of a Target that must be unchanged when a request is sent. The zero Pin matches nothing.
type Pin uint8

// The pins.
const (
	PinName  Pin = iota + 1 // the primitive and its kind, for claims, which wait for any owner
	PinOwner                // also its existence and its owner, or the lack of one
	PinGuard                // the same, for ending an ownership: an owner without a guard never matches
	PinData                 // also its existence and its own data, whoever owns it
	PinUse                  // also its existence and all its owners, for what ends every ownership
	PinLease                // our own lease, even if the row does not show it
)

// Changed returns, for people, what has changed about a row since the person decided; "" if nothing has that pin
// covers. row may be nil.
func (t *Target) Changed(row *sources.Row, pin Pin) string {
	switch {
	case pin == PinLease:
		return ""
	case row == nil || row.Ref != t.Ref:
		return "it is not listed any more"
	case row.Kind != t.Kind:
		return fmt.Sprintf("it was listed as %v when you decided, now as %v", t.Kind, row.Kind)
	case pin == PinName:
		return ""
	case row.Absent && !t.Absent:
		return "it existed when you decided, now it does not"
	case t.Absent && !row.Absent:
		return "it did not exist when you decided, now it does"
	case t.Waiting:
		return t.waiterChanged(row)
	case pin == PinOwner || pin == PinGuard:
		return t.ownerChanged(row, pin)
	case pin == PinUse && t.Used != UseOf(usesOf(row)):
		return "its owners were others when you decided"
	case pin == PinUse:
		return ""
	case pin != PinData:
		return "nothing says what this action depends on"
	case row.Data.Sum != t.Sum:
		return "its data was another when you decided"
	}
	return ""
}

// ownerChanged compares the owner.
func (t *Target) ownerChanged(row *sources.Row, pin Pin) string {
	if t.Owner == "" {
		switch {
		case len(row.Owners) > 0:
			return "nobody owned it when you decided, now " + OwnersText(row.Owners) + does(row)
		case pin == PinGuard:
			return "nobody owned it when you decided"
		}
		return ""
	}
	changed := ""
	for i := range row.Owners {
		if o := &row.Owners[i]; o.ID == t.Owner {
			what := t.termChanged(o, pin)
			if what == "" {
				return ""
			}
			changed = cmp.Or(changed, what)
		}
	}
	before := OwnerText(t.Label, t.Owner) + " owned it when you decided, now "
	switch {
	case changed != "":
		return changed
	case len(row.Owners) == 0:
		return before + "nobody does"
	case len(row.Owners) == 1 && OwnerText(row.Owners[0].Label, row.Owners[0].ID) == OwnerText(t.Label, t.Owner):
		return before + "another owner of that name does"
	}
	return before + OwnersText(row.Owners) + does(row)
}

// waiterChanged compares the waiter. A waiter without a guard never matches.
func (t *Target) waiterChanged(row *sources.Row) string {
	for i := range row.Queue.Waiters {
		if w := &row.Queue.Waiters[i]; w.ID == t.Owner {
			switch {
			case w.Guard == "":
				return "nothing is known of " + OwnerText(w.Label, w.ID) + " by which a change could be noticed in time"
			case w.Guard == t.Guard && w.Mode == t.Mode && max(w.Permits, 1) == max(t.Permits, 1):
				return ""
			}
			return OwnerText(w.Label, w.ID) + " waits for something else than when you decided"
		}
	}
	return OwnerText(t.Label, t.Owner) + " waited when you decided, now it does not"
}

// termChanged compares one ownership of the owner. Everything must be equal, including a fence of 0.
func (t *Target) termChanged(o *sources.Owner, pin Pin) string {
	who := OwnerText(o.Label, o.ID)
	switch {
	case o.Fence != t.Fence:
		return fmt.Sprintf("%s owned it with %s when you decided, now with %s", who, fence(t.Fence), fence(o.Fence))
	case o.Guard != t.Guard:
		return "what " + who + " wrote was another value when you decided"
	case pin == PinGuard && o.Guard == "":
		return "nothing is known of " + who + " by which a change of owner could be noticed in time"
	case o.Mode != t.Mode:
		return fmt.Sprintf("%s owned it in %v mode when you decided, now in %v mode", who, t.Mode, o.Mode)
	case max(o.Permits, 1) != max(t.Permits, 1):
		return fmt.Sprintf("%s owned %d of its permits when you decided, now %d", who, sources.Permits(max(t.Permits, 1)), sources.Permits(max(o.Permits, 1)))
	}
	return ""
}

func fence(n uint64) string {
	if n == 0 {
		return "no fence"
	}
	return fmt.Sprintf("fence %d", n)
}

func does(row *sources.Row) string {
	if len(row.Owners) > 1 {
		return " do"
	}
	return " does"
}

// OwnersText names the first of at least one owner, and the number of the others.
func OwnersText(owners []sources.Owner) string {
	text := OwnerText(owners[0].Label, owners[0].ID)
	if more := len(owners) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// OwnerText names an owner for people.
func OwnerText(label, id string) string {
	return format.Clean(cmp.Or(label, id, "nobody"), 200)
}
