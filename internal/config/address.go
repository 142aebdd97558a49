package config

import "strings"

// AddressWithoutLogin is the address for people: scheme and hosts, and the number of a
// database. Another path may be a part of a password with a slash.
func (all Backends) AddressWithoutLogin(s *Source) string {
	scheme, rest, _ := strings.Cut(s.Address, "://")
	hosts, path, _ := strings.Cut(rest, "/")
	if path = strings.TrimSuffix(path, "/"); all.Of(s.Type).has(Numbered) && isNumber(path) {
		hosts += "/" + path
	}
	return scheme + "://" + hosts
}
