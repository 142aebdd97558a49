package action

import "slices"

// Group groups the verbs by what they act on.
type Group uint8

// The groups.
const (
	Claims     Group = iota + 1 // claims ownership, and may wait for it
	OwnLease                    // changes or ends a lease of ours
	Ends                        // ends the ownership or the wait of somebody else
	Provisions                  // creates, changes or deletes a primitive or a space itself
)

// Doing has the texts of a verb for people, and its requirements. Each verb counts as a write, so the audit has a line
// from before and one from after it.
type Doing struct {
	Verb    Verb
	Group   Group
	Pin     Pin    // see Request.Pin
	Named   bool   // the name of the primitive must be typed, except in the demo
	Space   bool   // it is about the space of a row (Ref.Space), or without Ref.Name about a space alone
	GivesUp bool   // it only gives up a lease or a wait of ours, which needs neither arming nor a reason
	Text    string // for a menu; "": not in menus
	Changes string // the change at the service
}

// Verbs returns all verbs, in the order of menus. Menus, choices, guards and refusals all use this table.
func Verbs() []Doing {
	return []Doing{
		{
			Verb: Acquire, Group: Claims, Pin: PinName, Named: true, Text: "acquire, and wait for it where it is taken",
			Changes: "takes a mutex or permits, or a place in the queue for them",
		},
		{
			Verb: Campaign, Group: Claims, Pin: PinName, Named: true, Text: "campaign: wait to lead",
			Changes: "takes the lead, or a place among those who want it",
		},
		{
			Verb: Try, Group: Claims, Pin: PinOwner, Named: true, Text: "try: acquire only if it is free now",
			Changes: "takes it if it is free, else changes nothing",
		},
		{
			Verb: Proclaim, Group: OwnLease, Pin: PinLease, Text: "proclaim: change the data that others see",
			Changes: "replaces the data beside us while we lead",
		},
		{
			Verb: Resign, Group: OwnLease, Pin: PinLease, GivesUp: true, Text: "resign: give it up",
			Changes: "gives up what we own, which others may take at once; possible at any time",
		},
		{
			Verb: Release, Group: Ends, Pin: PinGuard, Named: true, Text: "force-release: end what another owns",
			Changes: "ends the ownership of another, who may go on working until it notices",
		},
		{
			Verb: CancelWait, Group: Ends, Pin: PinGuard, Named: true, Text: "cancel-wait: end the wait of another",
			Changes: "ends the wait of another; the owner notices nothing",
		},
		{Verb: Crash, Group: Ends, Pin: PinGuard, Changes: "ends the process of the owner; in the demo alone"},
		{
			Verb: Create, Group: Provisions, Pin: PinOwner, Text: "new: create it, with a limit and data",
			Changes: "makes a primitive that is absent",
		},
		{
			Verb: Update, Group: Provisions, Pin: PinData, Named: true, Text: "update its own data, whoever owns it",
			Changes: "replaces the data of the primitive, which is nobody's",
		},
		{
			Verb: Delete, Group: Provisions, Pin: PinOwner, Named: true, Text: "delete it, while nobody owns or awaits it",
			Changes: "removes a primitive that nobody owns or waits for",
		},
		{
			Verb: CreateNode, Group: Provisions, Pin: PinName, Space: true, Text: "new node: create the coordination node",
			Changes: "makes the space that a primitive is to be in",
		},
		{
			Verb: AlterNode, Group: Provisions, Pin: PinName, Named: true, Space: true,
			Changes: "changes the settings of a space; on the command line alone",
		},
		{
			Verb: DropNode, Group: Provisions, Pin: PinUse, Named: true, Space: true,
			Changes: "removes a space with everything in it; on the command line alone",
		},
	}
}

// Of returns the Doing of a verb. For an unknown verb it returns one without a group, whose Pin matches nothing.
func Of(v Verb) Doing {
	for _, d := range Verbs() {
		if d.Verb == v {
			return d
		}
	}
	return Doing{Verb: v}
}

// Ability describes the actions that are possible for one source, whatever its rows are.
type Ability struct {
	Source   string // its name
	Type     string // "redis", "postgres": for people
	ReadOnly bool   // requests that change something are never sent
	Protect  bool   // its name must be typed to arm it, and each action needs a reason
	Choices  []Choice
	Lines    []string // for the person: how the source executes its actions
}

// Can reports whether any verb is possible for the source.
func (a *Ability) Can() bool {
	return slices.ContainsFunc(a.Choices, func(c Choice) bool { return c.Not == "" })
}
