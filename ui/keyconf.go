package ui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// KeyProblem is one thing that is wrong with keys that a person wants changed.
type KeyProblem struct {
	Action string // as the help names it, and the config
	Known  bool   // whether there is such an action; else its name is no text to show
	Text   string // what is wrong and what to do; of an unknown key, only its number
}

// CheckKeys finds everything that is wrong with changed keys: the names of actions with
// the keys that they are to have instead of their own. None: Options.Keys takes them.
func CheckKeys(changed map[string][]string) []KeyProblem {
	var wrong []KeyProblem
	say := func(action, text string, args ...any) {
		wrong = append(wrong, KeyProblem{action, isAction(intent(action)), fmt.Sprintf(text, args...)})
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		switch {
		case !isAction(intent(name)):
			say(name, "no such action; ? on the board lists them: %s", strings.Join(actionNames(), ", "))
			continue
		case fixed(intent(name)):
			say(name, "what confirms or cancels in a box cannot be changed")
			continue
		case len(changed[name]) == 0:
			say(name, "has no key: write at least one")
		}
		seen := map[string]bool{}
		for n, k := range changed[name] {
			if why := unfit(intent(name), k); why != "" {
				say(name, "%s %s", shownKey(k, n), why)
			}
			if seen[k] {
				say(name, "%s is there twice", shownKey(k, n))
			}
			seen[k] = true
		}
		if n := len(changed[name]); n > 0 && !slices.ContainsFunc(changed[name], func(k string) bool { return !isFunctionKey(k) }) {
			say(name, "has function keys alone, which many terminals and multiplexers keep: add another key")
		}
	}
	for _, c := range clashes(rebound(bindings(), changed)) {
		for _, i := range []intent{c.one, c.other} {
			if changed[string(i)] != nil && isKey(c.key) {
				other := c.one
				if other == i {
					other = c.other
				}
				say(string(i), "%q is the key of %s too: give that another one, or take another here", c.key, other)
			}
		}
	}
	return wrong
}

// shownKey is a key as a problem calls it. What is no key is not repeated: it may be a secret
// in the wrong place.
func shownKey(k string, n int) string {
	if isKey(k) && len(k) <= len("shift+backspace") {
		return strconv.Quote(k)
	}
	return fmt.Sprintf("key %d", n+1)
}

// rebound is the table with other keys. Commands stay, and ctrl+c, which must end any
// program. Where an action has other keys than elsewhere (letters are text in a line), it
// gets of the new ones those that can stand there, if there are such.
func rebound(table []binding, changed map[string][]string) []binding {
	if len(changed) == 0 {
		return table
	}
	out := slices.Clone(table)
	for i := range out {
		b := &out[i]
		usual := usualKeys(table, b.intent)
		keys := slices.DeleteFunc(slices.Clone(changed[string(b.intent)]), func(k string) bool {
			return b.scope&(inTexts|inBox) != 0 && isLetter(k) || slices.Contains(usual, k) && !slices.Contains(b.keys, k)
		})
		onlyCommands := !slices.ContainsFunc(b.keys, func(k string) bool { return !isCommand(k) })
		if len(keys) == 0 || onlyCommands || fixed(b.intent) {
			continue
		}
		for _, k := range b.keys {
			if isCommand(k) || k == "ctrl+c" && !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		b.keys = keys
	}
	return out
}

// usualKeys are the keys of an intent in any scope of a table.
func usualKeys(table []binding, i intent) []string {
	var keys []string
	for _, b := range table {
		if b.intent == i {
			keys = append(keys, b.keys...)
		}
	}
	return keys
}

// clash is a key that means two things in one scope.
type clash struct {
	key        string
	one, other intent
}

func clashes(table []binding) []clash {
	var found []clash
	for s := scope(1); s != 0; s <<= 1 {
		owner := map[string]intent{}
		for _, b := range table {
			if b.scope&s == 0 {
				continue
			}
			for _, k := range b.keys {
				c := clash{k, owner[k], b.intent}
				if c.one != "" && c.one != c.other && !isCommand(k) && !slices.Contains(found, c) {
					found = append(found, c)
				}
				owner[k] = b.intent
			}
		}
	}
	return found
}

// isAction says whether the table has an intent with keys, and not only a command.
func isAction(i intent) bool {
	return slices.ContainsFunc(bindings(), func(b binding) bool {
		return b.intent == i && slices.ContainsFunc(b.keys, func(k string) bool { return !isCommand(k) })
	})
}

// actionNames are those that can have other keys.
func actionNames() []string {
	var names []string
	for _, b := range bindings() {
		if isAction(b.intent) && !fixed(b.intent) {
			names = append(names, string(b.intent))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fixed says whether the keys of an intent are those of a box alone: what confirms there must
// be nobody's habit from elsewhere.
func fixed(i intent) bool {
	for _, b := range bindings() {
		if b.intent == i && b.scope&^(inBox|inChanged|inQuestion|inLeave|inKeep) != 0 {
			return false
		}
	}
	return isAction(i)
}

// unfit says why a key cannot be bound to an intent; "": it can be.
func unfit(i intent, k string) string {
	switch {
	case isCommand(k):
		return "is a command: only keys can be changed"
	case slices.Contains(strings.Fields("ctrl+a ctrl+b ctrl+space ctrl+s ctrl+q ctrl+h ctrl+i ctrl+j ctrl+k ctrl+m backspace delete"), k):
		return "is never a command: terminals, multiplexers or habits keep it"
	case strings.HasPrefix(k, "alt+"):
		return "is never a command: over a slow link it is esc and a letter"
	case len(k) == 1 && strings.Contains("ABCDFHPRS[O", k), k == "Q" && i != doKeepScreen:
		return "cannot act at once: over a slow link an arrow key arrives in parts that end in it"
	case !isKey(k):
		return "is no key that is known: write one character, or as ctrl+x, space, tab, enter, esc, up, home, pgup, f5"
	}
	return ""
}

func isLetter(k string) bool { return k == "space" || utf8.RuneCountInString(k) == 1 }

func isFunctionKey(k string) bool {
	n, ok := strings.CutPrefix(k, "f")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

// isKey says whether a name is one that keyName gives.
func isKey(k string) bool {
	if r, n := utf8.DecodeRuneInString(k); n == len(k) {
		return r != utf8.RuneError && r != ' ' && unicode.IsPrint(r)
	}
	if c, ok := strings.CutPrefix(k, "ctrl+"); ok {
		return len(c) == 1 && (c[0] >= 'a' && c[0] <= 'z' || c == `\`)
	}
	k = strings.TrimPrefix(k, "shift+")
	return isFunctionKey(k) || slices.Contains(strings.Fields("enter esc tab space up down left right home end pgup pgdown insert"), k)
}
