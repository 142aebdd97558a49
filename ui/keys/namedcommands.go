package keys

import (
	"slices"
	"strings"
)

// isCommand reports whether a key of the table is a command, which is typed after a colon.
func isCommand(key string) bool { return len(key) > 1 && key[0] == ':' }

// command is a binding with the parts of one of its commands.
type command struct {
	Binding
	Name, Argument string // "sort", "COLUMN"
}

// Commands lists all commands, sorted by name.
func Commands() []command {
	var list []command
	for _, b := range Bindings() {
		for _, k := range b.Keys {
			if isCommand(k) {
				name, argument, _ := strings.Cut(k[1:], " ")
				list = append(list, command{b, name, argument})
			}
		}
	}
	slices.SortFunc(list, func(a, b command) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Named finds a command by its name or by a unique beginning of it.
func Named(name string) (command, bool) {
	var found []command
	for _, c := range Commands() {
		if c.Name == name {
			return c, true
		}
		if strings.HasPrefix(c.Name, name) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return command{}, false
	}
	return found[0], true
}

// CommandNames lists the names of all commands.
func CommandNames() []string {
	var names []string
	for _, c := range Commands() {
		names = append(names, c.Name)
	}
	return names
}

// Usage returns the help of the command in text.
func Usage(text string) string {
	name, argument, _ := strings.Cut(strings.TrimLeft(text, " "), " ")
	if name == "" {
		return "a command; tab completes"
	}
	c, ok := Named(name)
	switch {
	case !ok:
		return ""
	case argument == "" && c.Argument != "":
		return c.Argument + ": " + c.Help
	case argument == "":
		return c.Help
	}
	return ""
}
