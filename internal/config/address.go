package config

import "strings"

// AddressWithoutLogin is the address for people: scheme and hosts, and the number of a
// database, or the path of a socket. Another path may be a part of a password with a slash.
func (all Backends) AddressWithoutLogin(s *Source) string {
	scheme, rest, _ := strings.Cut(s.Address, "://")
	if _, known := all.byScheme(scheme); known.Socket {
		return s.Address
	}
	hosts, path, _ := strings.Cut(rest, "/")
	if path = strings.TrimSuffix(path, "/"); all.Of(s.Type).has(Numbered) && isNumber(path) {
		hosts += "/" + path
	}
	return scheme + "://" + hosts
}
