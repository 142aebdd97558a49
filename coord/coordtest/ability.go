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
	var has Ability
	if _, ok := s.(coord.Renewer); ok {
		has |= CanRenew
	}
	if _, ok := s.(coord.Describer); ok {
		has |= CanDescribe
	}
	if _, ok := s.(coord.Watcher); ok {
		has |= CanWatch
	}
	if _, ok := s.(coord.Queuer); ok {
		has |= CanQueue
	}
	if _, ok := s.(coord.Provisioner); ok {
		has |= CanProvision
	}
	return has
}

// GrantAbilities reports which optional interfaces a grant implements.
func GrantAbilities(g coord.Grant) Ability {
	var has Ability
	if _, ok := g.(coord.Renewer); ok {
		has |= CanRenew
	}
	if _, ok := g.(coord.Publisher); ok {
		has |= CanPublish
	}
	return has
}
