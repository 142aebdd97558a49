package action

// Doing is what a verb is to people. Each verb counts as a write: it is sent only while
// writing is possible, with a line in the audit before and after it.
type Doing struct {
	Verb    Verb
	Text    string // for a menu; "": it stands in none
	Changes string // what it changes at the service
}

// Verbs lists all of them, in the order of menus. It is the one table that menus, the list
// of what can be done and the refusals are made from.
func Verbs() []Doing {
	return []Doing{
		{Acquire, "acquire, and wait for it where it is taken", "takes a mutex or permits, or a place in the queue for them"},
		{Campaign, "campaign: wait to lead", "takes the lead, or a place among those who want it"},
		{Try, "try: acquire only if it is free now", "takes it if it is free, else changes nothing"},
		{Proclaim, "proclaim: change the data that others see", "replaces the data beside us while we lead"},
		{Resign, "resign: give it up", "gives up what we own, which others may take at once"},
		{Crash, "", "ends the process of the owner; in the demo alone"},
		{Create, "new: create it, with a limit and data", "makes a primitive that is absent"},
		{Update, "update its own data, whoever owns it", "replaces the data of the primitive, which is nobody's"},
		{Delete, "delete it, while nobody owns or awaits it", "removes a primitive that nobody owns or waits for"},
		{CreateNode, "new node: create the coordination node", "makes the space that a primitive is to be in"},
	}
}

// Of returns what a verb is to people; without a text, where there is no such verb.
func Of(v Verb) Doing {
	for _, d := range Verbs() {
		if d.Verb == v {
			return d
		}
	}
	return Doing{Verb: v}
}

// Ability is what can be done with one source at all, whatever its rows are.
type Ability struct {
	Source   string // its name
	Type     string // "redis", "postgres": for people
	ReadOnly bool   // nothing is ever sent to it that changes something
	Protect  bool   // its name must be typed to arm it, and each action needs a reason
	Choices  []Choice
	Lines    []string // how it does so, in words for the person
}

// Can says whether any verb is possible for the source.
func (a *Ability) Can() bool {
	for _, c := range a.Choices {
		if c.Not == "" {
			return true
		}
	}
	return false
}
