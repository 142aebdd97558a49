package config

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"coordtop/internal/ground/address"
	"coordtop/internal/ground/lazy"
)

// Target has the parts of a source's URL.
type Target struct {
	Type        string // of a Backend
	Scheme      string
	Hosts       string // host:port, or several separated by commas, as written
	Path        string // after the hosts, with its slash; "" without a path
	User        string // decoded
	HasPassword bool   // there is a password before the @, or in a parameter such as sentinel_password or access_token
	URL         string // the URL without our parameters
	Address     string // scheme, hosts and path
	Watch       []Watch
	Prefix      string   // before the keys of LeaderService; only Redis has it
	Nodes       []string // only if the backend has Nodes
	Channels    []string // only if the backend has Channels
}

// ParseURL parses a source's URL and removes our parameters from it. Its errors never repeat the user, the password or
// the parameters.
func (all Backends) ParseURL(raw string) (Target, error) {
	u, err := address.Split(raw)
	if u.Scheme == "" {
		return Target{}, fmt.Errorf("not a URL: it begins with its scheme, %s", all.Schemes())
	}
	t := Target{Scheme: u.Scheme, Hosts: u.Hosts, Path: u.Path, User: u.User, HasPassword: u.Password != ""}
	b, known := all.byScheme(t.Scheme)
	if b == nil {
		return t, all.unknownScheme(t.Scheme)
	}
	t.Type = b.Type
	if err == nil {
		err = t.someHost(b, known)
	}
	if err != nil {
		return t, err
	}
	theirs, err := t.parameters(u.Query, b)
	if err == nil {
		err = address.NoAt(theirs)
	}
	if err != nil {
		return t, err
	}
	if err := t.hosts(b, known); err != nil {
		return t, err
	}
	t.Address = t.Scheme + "://" + t.Hosts + t.Path
	t.URL = t.Scheme + "://" + u.Authority + t.Path // pgx knows schemes in lower case only
	if theirs != "" {
		t.URL += "?" + theirs
	}
	return t, nil
}

// hosts checks the hosts. They become the source's name, which must not be the rest of a URL that was cut at the wrong
// place.
func (t *Target) hosts(b *Backend, known Scheme) error {
	port := known.Port
	switch {
	case known.Socket && (t.Hosts != "" || !socketPath().MatchString(t.Path)):
		return fmt.Errorf("a bad path: write it as %s:///run/redis.sock, other characters than letters, digits and .-_+ as %%XX", t.Scheme)
	case known.Socket, b.has(LocalSocket) && t.Hosts == "":
		return nil
	}
	for host := range strings.SplitSeq(t.Hosts, ",") {
		if b.has(LocalSocket) && (host == "" || host[0] == ':') {
			host = "localhost" + host // the local socket
		}
		full, err := address.Host(host, port, t.Scheme+"://host:"+port)
		if err != nil {
			return err
		}
		if name, _, err := net.SplitHostPort(full); err != nil || !hostName().MatchString(name) && !strings.HasPrefix(host, "[") {
			return fmt.Errorf("a bad host: it has letters, digits, dots and dashes; write it as host:%s", port)
		}
	}
	return nil
}

// hostName matches a host; for Postgres it also matches the folder of a socket.
var hostName = lazy.Regexp(`^([\pL\pN._-]+|%2[Ff][\pL\pN._%-]*)$`)

// socketPath matches the path of a socket.
var socketPath = lazy.Regexp(`^(/[\pL\pN._%+-]+)+$`)

// schemeWord matches a scheme that an error may repeat.
var schemeWord = lazy.Regexp(`^[a-z]{2,10}(\+[a-z]{2,10})?$`)

// someHost returns an error about an empty host in a list of hosts.
func (t *Target) someHost(b *Backend, known Scheme) error {
	if b.has(LocalSocket) || known.Socket {
		return nil
	}
	for host := range strings.SplitSeq(t.Hosts, ",") {
		if strings.TrimSpace(host) == "" {
			return fmt.Errorf("no host in it: write it as %s://host:port", t.Scheme)
		}
	}
	return nil
}

// AddressWithoutLogin returns the address for people: the scheme and hosts with the number of a database, or the path
// of a socket. It leaves out any other path, which may be a part of a password with a slash.
func (all Backends) AddressWithoutLogin(s *Source) string {
	scheme, rest, _ := strings.Cut(s.Address, "://")
	if _, known := all.byScheme(scheme); known.Socket {
		return s.Address
	}
	hosts, path, _ := strings.Cut(rest, "/")
	path = strings.TrimSuffix(path, "/")
	if _, err := strconv.ParseUint(path, 10, 31); err == nil && all.Of(s.Type).has(Numbered) {
		hosts += "/" + path
	}
	return scheme + "://" + hosts
}
