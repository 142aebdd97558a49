package config

import (
	"errors"
	"fmt"
	"strings"
)

// MaxIdentity is how many characters of our label are sure to survive on every backend
// (Postgres keeps 63 of application_name, and data follows ours).
const MaxIdentity = 40

// InIdentity reports whether every backend takes r in a label: printable ASCII, but neither a
// space nor |, which divide labels from data there.
func InIdentity(r rune) bool { return r > ' ' && r <= '~' && r != '|' }

// checkIdentity reports what is wrong with a template of our label.
func checkIdentity(template string) error {
	rest := template
	for _, place := range []string{"{user}", "{host}", "{pid}"} {
		rest = strings.ReplaceAll(rest, place, "")
	}
	if strings.ContainsAny(rest, "{}") {
		return errors.New("only {user}, {host} and {pid} can stand in braces")
	}
	if strings.ContainsFunc(rest, func(r rune) bool { return !InIdentity(r) }) {
		return errors.New("must be ASCII without spaces and without |")
	}
	if len(rest) > MaxIdentity {
		return fmt.Errorf("is longer than %d characters", MaxIdentity)
	}
	return nil
}
