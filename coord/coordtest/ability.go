package coordtest

import "coordtop/coord"

// Ability is a set of optional interfaces of a session or a grant.
type Ability uint8

// The optional interfaces. CanRenew is of a session or of a grant, CanPublish of a
// grant, the others of a session.
const (
	CanRenew Ability = 1 << iota
	CanDescribe
	CanWatch
	CanQueue
	CanProvision
	CanPublish
)

// SessionAbilities reports which optional interfaces a session implements.
func SessionAbilities(s coord.DriverSession) Ability {
	return ability[coord.Renewer](s, CanRenew) | ability[coord.Describer](s, CanDescribe) | ability[coord.Watcher](s, CanWatch) |
		ability[coord.Queuer](s, CanQueue) | ability[coord.Provisioner](s, CanProvision)
}

// GrantAbilities reports which optional interfaces a grant implements.
func GrantAbilities(g coord.Grant) Ability {
	return ability[coord.Renewer](g, CanRenew) | ability[coord.Publisher](g, CanPublish)
}

// ability is a if v implements I, else none.
func ability[I any](v any, a Ability) Ability {
	if _, ok := v.(I); ok {
		return a
	}
	return 0
}
