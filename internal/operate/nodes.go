package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Nodes creates, changes and removes the spaces of a source. Each function with a ctx returns when that ends.
type Nodes struct {
	// Check returns what is wrong with settings, and writes their values as About.Config has them.
	Check         func(settings []sources.Attr) error
	Create, Alter func(ctx context.Context, space string, settings []sources.Attr) error
	Drop          func(ctx context.Context, space string) error
}

// SettingsText returns settings for people; "" for none.
func SettingsText(settings []sources.Attr) string {
	var list []string
	for _, s := range settings {
		list = append(list, s.Key+" "+s.Value)
	}
	return strings.Join(list, ", ")
}

// aboutNode reports whether a request is about a space and no row.
func aboutNode(r *action.Request) bool {
	return r.Target.Ref.Name == "" && action.Of(r.Verb).Space
}

// nodeScope returns the scope of the space of ref; nil if our watch does not have it.
func nodeScope(s *sources.State, ref sources.Ref) *sources.Scope {
	i := slices.IndexFunc(s.Scopes, func(c sources.Scope) bool { return c.Source == ref.Source && c.Name == ref.Space })
	if i < 0 {
		return nil
	}
	return &s.Scopes[i]
}

// guardNode checks a request about a space. Only with force it may be dropped while something in it is owned or
// awaited, and only if the owners are those that the person saw.
func guardNode(d *decision) error {
	ref := d.Target.Ref
	c := nodeScope(d.state, ref)
	switch {
	case d.b.never(d.Verb) != "":
		return notPossible("%s", d.b.never(d.Verb))
	case c == nil || c.Health != sources.HealthLive || !c.Synced:
		return notPossible("what is shown of it is old, since its source is silent: try again when it answers")
	case d.Verb == action.CreateNode && !c.About.Absent:
		return notPossible("%s exists", clean(ref.Space))
	case d.Verb != action.CreateNode && c.About.Absent:
		return notPossible("there is no such coordination node")
	case d.Verb != action.DropNode:
		return nil
	}
	now, users := action.TargetOfNode(d.state, ref.Source, ref.Space)
	switch {
	case len(users) > 0 && !d.Force:
		return notPossible("it is in use: %s", format.Some(users, 5))
	case d.Force && now.Used != d.Target.Used:
		return changed("the owners in it were others when you decided")
	}
	return nil
}

// describeNode describes what altering or dropping a space would do.
func describeNode(e *action.Effect, s *sources.State, r action.Request) {
	name := clean(r.Target.Ref.Space)
	e.Danger = true
	if r.Verb == action.AlterNode {
		e.Lines = []string{
			"Changes the settings of " + name + " to " + SettingsText(r.Settings) + ". Others stay as they are.",
			"A setting can be changed again, but not be given back to the service.",
		}
		return
	}
	_, users := action.TargetOfNode(s, r.Target.Ref.Source, r.Target.Ref.Space)
	e.Lines = []string{
		"Drops " + name + " with all its semaphores, their data and all sessions. The server does not ask their owners.",
		"Only semaphores whose names are known are looked at: YDB lists none, so others may be in use.",
		"Programs that use it fail until it is created again; then session numbers and order ids begin anew.",
	}
	if len(users) > 0 {
		e.Lines = append(e.Lines, fmt.Sprintf("In use now (%d): %s.", len(users), format.Some(users, 10)))
	}
}

// checkUse returns errOtherOwners if the primitives with these names are not owned as the person saw, or without force
// if somebody waits for one. It reads each of them.
func checkUse(ctx context.Context, session *coord.Session, r action.Request, names ...string) error {
	var uses []string
	for _, name := range names {
		d, err := session.Semaphore(name, coord.SemaphoreOptions{}).Describe(ctx)
		if err != nil && !errors.Is(err, coord.ErrNotFound) {
			return fmt.Errorf("%w: %w", errNotSent, err)
		}
		for i := range d.Owners {
			uses = append(uses, action.UseIn(name, d.Owners[i].ID))
		}
		if len(d.Waiters) > 0 && !r.Force {
			return errOtherOwners
		}
	}
	if action.UseOf(uses) != r.Target.Used {
		return errOtherOwners
	}
	return nil
}

// namesIn returns the names of all primitives of the space of ref.
func namesIn(s *sources.State, ref sources.Ref) (names []string) {
	for _, row := range s.Rows {
		if row != nil && row.Source == ref.Source && row.Space == ref.Space {
			names = append(names, row.Name)
		}
	}
	return names
}

// showsNode reports whether our watch shows the result of a request about a space.
func showsNode(r action.Request, s *sources.State) bool {
	c := nodeScope(s, r.Target.Ref)
	return c != nil && c.About.Absent == (r.Verb == action.DropNode) && !slices.ContainsFunc(r.Settings, func(a sources.Attr) bool {
		return sources.AttrOf(c.About.Config, a.Key) != a.Value
	})
}
