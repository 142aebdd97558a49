package record

import (
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// darkness adds the unobserved stretches of scopes that began or ended. The time from the beginning of the run to the
// first listing of a scope is such a stretch.
func (d *derived) darkness(b *history.Batch, state *sources.State) map[[2]string][]sources.Dark {
	scopes := map[[2]string][]sources.Dark{}
	for i := range state.Scopes {
		sc := &state.Scopes[i]
		key := [2]string{sc.Source, sc.Name}
		list := fromOn(d.began, sc.Dark)
		if sc.Since.IsZero() || sc.Since.After(d.began) {
			list = append([]sources.Dark{{From: d.began, To: sc.Since}}, list...)
		}
		scopes[key] = list
		for _, dark := range newDark(d.scopes[key], list) {
			b.Dark = append(b.Dark, history.DarkChange{Source: sc.Source, Scope: sc.Name, Dark: dark})
		}
	}
	return scopes
}

// fromOn returns the part of an ordered list of stretches from an instant on. A run writes only its own time; the time
// before belongs to earlier runs.
func fromOn(began time.Time, list []sources.Dark) []sources.Dark {
	for len(list) > 0 && !list[0].To.IsZero() && !list[0].To.After(began) {
		list = list[1:]
	}
	if len(list) > 0 && list[0].From.Before(began) {
		list = slices.Clone(list)
		list[0].From = began
	}
	return list
}

// newDark returns the stretches of list that began or ended since old. A stretch that was withdrawn is returned with an
// end equal to its beginning.
func newDark(old, list []sources.Dark) (changed []sources.Dark) {
	if len(old) == len(list) && (len(list) == 0 || &old[0] == &list[0]) {
		return nil
	}
	for _, dark := range list {
		if !slices.ContainsFunc(old, func(o sources.Dark) bool { return o.From.Equal(dark.From) && o.To.Equal(dark.To) }) {
			changed = append(changed, dark)
		}
	}
	for _, o := range old {
		if o.To.IsZero() && !slices.ContainsFunc(list, func(dark sources.Dark) bool { return dark.From.Equal(o.From) }) {
			changed = append(changed, sources.Dark{From: o.From, To: o.From})
		}
	}
	return changed
}

// ownDark returns the stretches of a row that are not those of its scope.
func ownDark(row *sources.Row, state *sources.State) []sources.Dark {
	if row.Scope >= len(state.Scopes) {
		return nil
	}
	all, scope := row.Unobserved(state), state.Scopes[row.Scope].Dark
	if len(all) == len(scope) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(dark sources.Dark) bool { return slices.Contains(scope, dark) })
}
