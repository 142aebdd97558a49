package config

import (
	"errors"
	"fmt"
	"strings"
)

// maxIdentity is how many characters are sure to survive on every backend (Postgres
// keeps 63 of application_name, and data follows ours).
const maxIdentity = 40

// checkIdentity reports what is wrong with a template of our label.
func checkIdentity(template string) error {
	rest := template
	for _, place := range []string{"{user}", "{host}", "{pid}"} {
		rest = strings.ReplaceAll(rest, place, "")
	}
	if strings.ContainsAny(rest, "{}") {
		return errors.New("only {user}, {host} and {pid} can stand in braces")
	}
	for i := range len(rest) {
		if rest[i] <= ' ' || rest[i] > '~' || rest[i] == '|' {
			return errors.New("must be ASCII without spaces and without |")
		}
	}
	if len(rest) > maxIdentity {
		return fmt.Errorf("is longer than %d characters", maxIdentity)
	}
	return nil
}
