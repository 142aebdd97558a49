package keys

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"coordtop/internal/ground/address"
)

// Problem is one mistake in the configured keys.
type Problem struct {
	Action string // its name in help and config
	Known  bool   // the action exists; else its name must not be shown
	Text   string // what is wrong and what to do; it names unknown keys by number
}

// Check finds all mistakes in changed keys, which are new keys by action. Without any, Options.Keys
// accepts them.
func Check(changed map[string][]string) []Problem {
	var wrong []Problem
	say := func(action, text string, args ...any) {
		wrong = append(wrong, Problem{action, isAction(Intent(action)), fmt.Sprintf(text, args...)})
	}
	listed := false
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		switch {
		case !isAction(Intent(name)):
			say(name, "%s", noAction(name, &listed))
			continue
		case fixed(Intent(name)):
			say(name, "what confirms or cancels in a box cannot be changed")
			continue
		case len(changed[name]) == 0:
			say(name, "has no key: write at least one")
		}
		seen := map[string]bool{}
		for n, k := range changed[name] {
			if why := unfit(Intent(name), k); why != "" {
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
	for _, c := range clashes(Rebound(Bindings(), changed)) {
		for _, pair := range [...][2]Intent{{c.one, c.other}, {c.other, c.one}} {
			if changed[string(pair[0])] != nil && isKey(c.key) {
				say(string(pair[0]), "%q is the key of %s too: give that another one, or take another here", c.key, pair[1])
			}
		}
	}
	return wrong
}

// noAction describes an unknown action. It repeats the name only if it is close to that of an action:
// else it may be a secret in the wrong place. It lists the actions once.
func noAction(name string, listed *bool) string {
	if near := address.Near(name, ActionNames()...); near != "" {
		return fmt.Sprintf("no such action as %s: did you mean %s?", name, near)
	}
	if *listed {
		return "no such action"
	}
	*listed = true
	return "no such action; ? on the board lists them: " + strings.Join(ActionNames(), ", ")
}

// shownKey returns the name of a key in a Problem. It does not repeat text that is no key: it may be
// a secret in the wrong place.
func shownKey(k string, n int) string {
	if isKey(k) && len(k) <= len("shift+backspace") {
		return strconv.Quote(k)
	}
	return fmt.Sprintf("key %d", n+1)
}

// Hinted returns the table with another hint for an intent.
func (t Table) Hinted(intent Intent, hint string) Table {
	out := slices.Clone(t)
	for i := range out {
		if out[i].Intent == intent {
			out[i].Hint = hint
		}
	}
	return out
}

// Rebound returns the table with changed keys. Commands stay, and ctrl+c, which must end any
// program. In contexts in which an action has other keys than usual (letters are text in a line), it
// gets those of the new keys that are possible there, if any.
func Rebound(table Table, changed map[string][]string) Table {
	if len(changed) == 0 {
		return table
	}
	out := slices.Clone(table)
	for i := range out {
		b := &out[i]
		usual := usualKeys(table, b.Intent)
		keys := slices.DeleteFunc(slices.Clone(changed[string(b.Intent)]), func(k string) bool {
			return b.Context&(inTexts|InBox) != 0 && isLetter(k) || slices.Contains(usual, k) && !slices.Contains(b.Keys, k)
		})
		onlyCommands := !slices.ContainsFunc(b.Keys, func(k string) bool { return !isCommand(k) })
		if len(keys) == 0 || onlyCommands || fixed(b.Intent) {
			continue
		}
		for _, k := range b.Keys {
			if isCommand(k) || k == "ctrl+c" && !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		b.Keys = keys
	}
	return out
}

// usualKeys returns the keys of an intent in all contexts.
func usualKeys(table []Binding, i Intent) []string {
	var keys []string
	for _, b := range table {
		if b.Intent == i {
			keys = append(keys, b.Keys...)
		}
	}
	return keys
}

// clash is a key with two intents in one context.
type clash struct {
	key        string
	one, other Intent
}

func clashes(table []Binding) []clash {
	var found []clash
	for s := Context(1); s != 0; s <<= 1 {
		owner := map[string]Intent{}
		for _, b := range table {
			if b.Context&s == 0 {
				continue
			}
			for _, k := range b.Keys {
				c := clash{k, owner[k], b.Intent}
				if c.one != "" && c.one != c.other && !isCommand(k) && !slices.Contains(found, c) {
					found = append(found, c)
				}
				owner[k] = b.Intent
			}
		}
	}
	return found
}

// isAction reports whether the table has an intent with keys, and not only a command.
func isAction(i Intent) bool {
	return slices.ContainsFunc(Bindings(), func(b Binding) bool {
		return b.Intent == i && slices.ContainsFunc(b.Keys, func(k string) bool { return !isCommand(k) })
	})
}

// ActionNames returns the actions whose keys can be changed.
func ActionNames() []string {
	var names []string
	for _, b := range Bindings() {
		if isAction(b.Intent) && !fixed(b.Intent) {
			names = append(names, string(b.Intent))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fixed reports whether an intent has keys in boxes only. They cannot be changed: nobody should
// confirm a box by a habit from elsewhere.
func fixed(i Intent) bool {
	return isAction(i) && !slices.ContainsFunc(Bindings(), func(b Binding) bool {
		return b.Intent == i && b.Context&^(InBox|InChanged|InQuestion|InLeave|InKeep) != 0
	})
}

// unfit returns why a key cannot be bound to an intent; "": it can be.
func unfit(i Intent, k string) string {
	switch {
	case isCommand(k):
		return "is a command: only keys can be changed"
	case slices.Contains(strings.Fields("ctrl+a ctrl+b ctrl+space ctrl+s ctrl+q ctrl+h ctrl+i ctrl+j ctrl+k ctrl+m backspace delete"), k):
		return "is never a command: terminals, multiplexers or habits keep it"
	case strings.HasPrefix(k, "alt+"):
		return "is never a command: over a slow link it is esc and a letter"
	case len(k) == 1 && strings.Contains("ABCDFHPRS[O", k) && !onlyMoves(i), k == "Q" && i != KeepScreen:
		return "cannot act at once: over a slow link an arrow key arrives in parts that end in it"
	case !isKey(k):
		return "is no key that is known: write one character, or as ctrl+x, space, tab, enter, esc, up, home, pgup, f5"
	}
	return ""
}

// onlyMoves reports whether an intent only moves a cursor in time, as an arrow key that arrived in
// parts would have done too.
func onlyMoves(i Intent) bool { return i == EarlierPage || i == LastChange }

func isLetter(k string) bool { return k == "space" || utf8.RuneCountInString(k) == 1 }

func isFunctionKey(k string) bool {
	n, ok := strings.CutPrefix(k, "f")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

// isKey reports whether Name can return a name.
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
