package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"coordtop/internal/ground/address"
	"coordtop/sources"
)

// parameters reads our parameters and returns the others unchanged.
func (t *Target) parameters(query string, b *Backend) (theirs string, err error) {
	var rest []string
	for i, part := range strings.Split(query, "&") {
		key, value, _ := strings.Cut(part, "=")
		if part == "" {
			continue
		}
		switch ours, err := t.parameter(key, value, b); {
		case ours && err != nil:
			return "", err
		case err != nil:
			return "", fmt.Errorf("parameter %d behind the ?: %w", i+1, err)
		case !ours:
			rest = append(rest, part)
			t.HasPassword = t.HasPassword || strings.Contains(key, "password") || key == "access_token"
		}
	}
	return strings.Join(rest, "&"), nil
}

// parameter reads one parameter and reports whether it is ours.
func (t *Target) parameter(key, value string, b *Backend) (ours bool, err error) {
	if kind, _ := WatchKind(key); kind == sources.KindSemaphore && !b.has(Semaphores) {
		return true, fmt.Errorf("%s=: %w", key, b.noSemaphores())
	}
	return b.Parameter(t, key, value)
}

func (b *Backend) noSemaphores() error {
	return fmt.Errorf("%s has no semaphores: write election or mutex", b.Title)
}

// Select reads a parameter that selects primitives by one name or pattern, and reports whether key is such a parameter.
func (t *Target) Select(key, value, example string) (ours bool, err error) {
	kind, watched := WatchKind(key)
	if !watched {
		return false, nil
	}
	pattern, err := Unescape(key, value)
	if pattern == "" && err == nil {
		err = fmt.Errorf("%s= is empty: write %s", key, example)
	}
	t.Watch = append(t.Watch, Watch{Kind: kind, Pattern: pattern})
	return true, err
}

// Misspelt returns an error about a parameter that resembles one of ours. It does not repeat other parameters, which
// may be the second half of a password with a ? or &.
func Misspelt(key string, ours ...string) error {
	if near := address.Near(key, ours...); near != "" && key != "key" { // key= is a parameter of TLS
		return fmt.Errorf("unknown parameter %q: did you mean %s=?", key, near)
	}
	return nil
}

// WatchKind returns the kind of primitive that a parameter selects. These parameters are the same on every backend.
func WatchKind(key string) (kind sources.Kind, ok bool) {
	kind = sources.KindNamed(key)
	return kind, key == selector(kind)
}

// selector returns the parameter of a URL, and the key in an entry of watch, for a kind.
func selector(k sources.Kind) string {
	if k == sources.KindUnknown {
		return "keys"
	}
	return k.String()
}

// List reads a comma-separated list; %2C is a comma within a name.
func List(key, value, example string) ([]string, error) {
	words := strings.Split(value, ",")
	for i, word := range words {
		var err error
		if words[i], err = Unescape(key, word); err != nil {
			return nil, err
		}
	}
	if slices.Contains(words, "") {
		return nil, fmt.Errorf("%s= is empty, or has nothing beside a comma: write it as %s=%s", key, key, example)
	}
	return words, nil
}

// Unescape decodes the %XX of a value.
func Unescape(key, value string) (string, error) {
	text, err := url.PathUnescape(value)
	if err != nil {
		return "", fmt.Errorf("a bad %% in %s=: write %% itself as %%25", key)
	}
	return text, nil
}
