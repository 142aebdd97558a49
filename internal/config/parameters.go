package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coordtop/internal/address"
	"coordtop/sources"
)

// RedisParameters are ours in a URL of Redis, for people.
const RedisParameters = "keys, election, mutex and semaphore"

// errNoSemaphore is what a person is told who looks for one on Postgres.
var errNoSemaphore = errors.New("an advisory lock is no semaphore: write election or mutex")

// parameters takes ours and returns theirs, as they were written.
func (t *Target) parameters(query string) (theirs string, err error) {
	var rest []string
	for i, part := range strings.Split(query, "&") {
		key, value, _ := strings.Cut(part, "=")
		ours, err := t.parameter(key, value)
		if err != nil {
			return "", err
		}
		if !ours && part != "" {
			if err := t.foreign(key, value); err != nil {
				return "", fmt.Errorf("parameter %d behind the ?: %w", i+1, err)
			}
			rest = append(rest, part)
			t.HasPassword = t.HasPassword || strings.Contains(key, "password") || key == "access_token"
		}
	}
	return strings.Join(rest, "&"), nil
}

// parameter takes one, if it is ours.
func (t *Target) parameter(key, value string) (ours bool, err error) {
	kind, watched := watchKind(key)
	switch {
	case t.Type == TypeYDB && key == "node":
		path, err := unescape(key, value)
		if strings.Trim(path, "/") == "" && err == nil {
			err = errors.New("node= is empty: write the path of a coordination node, as node=/local/app")
		}
		t.Nodes = append(t.Nodes, path)
		return true, err
	case t.Type != TypePostgres && watched:
		pattern, err := unescape(key, value)
		if pattern == "" && err == nil {
			err = fmt.Errorf("%s= is empty: write %s", key, exampleOf(t.Type, key))
		}
		t.Watch = append(t.Watch, Watch{Kind: kind, Pattern: pattern})
		return true, err
	case t.Type != TypePostgres:
		return false, nil
	case kind == sources.KindSemaphore:
		return true, fmt.Errorf("%s=: %w", key, errNoSemaphore)
	case watched || key == "locks":
		keys, err := list(key, value, "4242,17:-4")
		for _, k := range keys {
			t.Watch = append(t.Watch, Watch{Kind: kind, Pattern: k})
		}
		return true, err
	case key == "channels":
		names, err := list(key, value, "jobs,events")
		t.Channels = append(t.Channels, names...)
		return true, err
	}
	return false, nil
}

// setting is what the name of a setting of Postgres looks like.
var setting = regexp.MustCompile(`^[A-Za-z_]{1,40}([.][A-Za-z_]{1,40})?$`)

// foreign says what is wrong with a parameter that is not ours, as far as that is known here.
// What else there is the backend's own parser refuses, for Postgres the server. An unknown one is repeated only
// where it is all but a known one: it may be the second half of a password with a ? or &.
func (t *Target) foreign(key, value string) error {
	ours := []string{"keys", "election", "mutex", "semaphore"}
	switch t.Type {
	case TypePostgres:
		ours = []string{"locks", "keys", "election", "mutex", "channels"}
	case TypeYDB:
		ours = append([]string{"node"}, ours...)
	}
	near := address.Near(key, ours...)
	switch modes := []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}; {
	case near != "" && key != "key": // key= is TLS's
		return fmt.Errorf("unknown parameter %q: did you mean %s=?", key, near)
	case t.Type == TypePostgres && key == "node":
		return errors.New("node= is for YDB: write locks=, election= or mutex=")
	case t.Type == TypePostgres && !setting.MatchString(key):
		return fmt.Errorf("no setting of Postgres has such a name: write ? and & in a password as %%3F and %%26; to select there are %s=", strings.Join(ours, "=, "))
	case t.Type == TypePostgres && key == "sslmode" && !slices.Contains(modes, value):
		return fmt.Errorf("sslmode= takes %s", strings.Join(modes, ", "))
	case t.Type == TypePostgres && (key == "host" || key == "hostaddr"):
		if text, err := url.QueryUnescape(value); err == nil {
			value = text
		}
		return few(value)
	case t.Type == TypePostgres && key == "connect_timeout" && !isNumber(value):
		return errors.New("connect_timeout= takes a whole number of seconds")
	}
	return nil
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 31)
	return err == nil
}

// exampleOf is what a parameter may look like.
func exampleOf(typ, key string) string {
	if typ == TypeYDB {
		return "the name of a semaphore, as " + key + "=primary"
	}
	return "a name or a pattern, as " + key + "=app:leader:*"
}

// watchKind is the kind that a parameter of every backend names.
func watchKind(key string) (kind sources.Kind, ok bool) {
	for _, k := range []sources.Kind{sources.KindElection, sources.KindMutex, sources.KindSemaphore} {
		if key == k.String() {
			return k, true
		}
	}
	return sources.KindUnknown, key == "keys"
}

// list reads a value with commas; one that belongs to a name is %2C.
func list(key, value, example string) ([]string, error) {
	words := strings.Split(value, ",")
	for i, word := range words {
		var err error
		if words[i], err = unescape(key, word); err != nil {
			return nil, err
		}
	}
	if slices.Contains(words, "") {
		return nil, fmt.Errorf("%s= is empty, or has nothing beside a comma: write it as %s=%s", key, key, example)
	}
	return words, nil
}

func unescape(key, value string) (string, error) {
	text, err := url.PathUnescape(value)
	if err != nil {
		return "", fmt.Errorf("a bad %% in %s=: write %% itself as %%25", key)
	}
	return text, nil
}
