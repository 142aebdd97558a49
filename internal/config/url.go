package config

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"coordtop/internal/address"
)

// ErrNotYet is wrapped by the errors about backends that are known and not built in.
var ErrNotYet = errors.New("this build does not watch them yet")

// Schemes are those of the URLs that this build watches, for people.
const Schemes = "redis://, rediss:// (TLS), redis+sentinel://, postgres://, grpc:// or grpcs:// (YDB)"

// Target is a source's URL taken apart.
type Target struct {
	Type        string // one of the Type constants
	Scheme      string
	Hosts       string // host:port, or several with commas, as written
	Path        string // after the hosts, with its slash; "" if there is none
	User        string // decoded
	HasPassword bool   // before the @, or as a parameter such as sentinel_password or access_token
	URL         string // the URL without our parameters
	Address     string // scheme, hosts and path
	Watch       []Watch
	Nodes       []string // YDB only
	Channels    []string // Postgres only
}

// ParseURL takes a source's URL apart and takes our parameters out of it. No error of
// it repeats the user, the password or the parameters.
func ParseURL(raw string) (Target, error) {
	u, err := address.Split(raw)
	if u.Scheme == "" {
		return Target{}, fmt.Errorf("not a URL: it begins with its scheme, %s", Schemes)
	}
	t := Target{Scheme: u.Scheme, Type: typeOf(u.Scheme), Hosts: u.Hosts, Path: u.Path, User: u.User, HasPassword: u.Password != ""}
	if t.Type == "" {
		return t, unknownScheme(t.Scheme)
	}
	if err == nil {
		err = t.someHost()
	}
	if err != nil {
		return t, err
	}
	theirs, err := t.parameters(u.Query)
	if err == nil {
		err = address.NoAt(theirs)
	}
	if err != nil {
		return t, err
	}
	if err := t.hosts(); err != nil {
		return t, err
	}
	t.Address = t.Scheme + "://" + t.Hosts + t.Path
	t.URL = t.Scheme + "://" + u.Authority + t.Path // pgx knows schemes in lower case only
	if theirs != "" {
		t.URL += "?" + theirs
	}
	return t, nil
}

// hosts checks them here, since a source is named by them: the rest of a URL that was cut at the
// wrong place must not become a name.
func (t *Target) hosts() error {
	port := map[string]string{TypePostgres: "5432", TypeYDB: "2136", TypeRedis: "6379", TypeDflockd: "6388"}[t.Type]
	if t.Type == TypePostgres && t.Hosts == "" {
		return nil
	}
	if err := few(t.Hosts); err != nil {
		return err
	}
	for host := range strings.SplitSeq(t.Hosts, ",") {
		if t.Type == TypePostgres && (host == "" || host[0] == ':') {
			host = "localhost" + host // the local socket
		}
		full, err := address.Host(host, port, t.Scheme+"://host:"+port)
		if err != nil {
			return err
		}
		if name, _, err := net.SplitHostPort(full); err != nil || !hostName.MatchString(name) && !strings.HasPrefix(host, "[") {
			return fmt.Errorf("a bad host: it has letters, digits, dots and dashes; write it as host:%s", port)
		}
	}
	return nil
}

// mostHosts of one address are tried; each costs memory, and a time-out where it is silent.
const mostHosts = 64

// few refuses a list of more hosts than that.
func few(hosts string) error {
	if strings.Count(hosts, ",") >= mostHosts {
		return fmt.Errorf("more than %d hosts", mostHosts)
	}
	return nil
}

// hostName is what a host looks like; of Postgres it may be the folder of a socket.
var hostName = regexp.MustCompile(`^([\pL\pN._-]+|%2[Ff][\pL\pN._%-]*)$`)

// schemeWord is what a scheme looks like that is repeated in an error.
var schemeWord = regexp.MustCompile(`^[a-z]{2,10}(\+[a-z]{2,10})?$`)

func unknownScheme(scheme string) error {
	if near := address.Near(scheme, "redis", "rediss", "redis+sentinel", "postgres", "postgresql", "grpc", "grpcs"); near != "" {
		return fmt.Errorf("unknown scheme %q: did you mean %s://?", scheme, near)
	}
	if schemeWord.MatchString(scheme) {
		return fmt.Errorf("unknown scheme %q: write %s", scheme, Schemes)
	}
	return fmt.Errorf("unknown scheme: write %s", Schemes)
}

func typeOf(scheme string) string {
	switch scheme {
	case "redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster":
		return TypeRedis
	case "postgres", "postgresql":
		return TypePostgres
	case "grpc", "grpcs":
		return TypeYDB
	case "dflockd", "dflockds":
		return TypeDflockd
	}
	return ""
}

// someHost refuses a list of hosts in which one is missing.
func (t *Target) someHost() error {
	if t.Type == TypePostgres {
		return nil // libpq takes an empty host for the local socket
	}
	for host := range strings.SplitSeq(t.Hosts, ",") {
		if strings.TrimSpace(host) == "" {
			return fmt.Errorf("no host in it: write it as %s://host:port", t.Scheme)
		}
	}
	return nil
}

// Supported returns nil for a type that this build can watch, else an error that wraps
// ErrNotYet and says which it can.
func Supported(typ string) error {
	if typ == TypeDflockd {
		return fmt.Errorf("dflockd servers: %w; it watches Redis (redis, rediss, redis+sentinel), Postgres (postgres) and YDB (grpc, grpcs)", ErrNotYet)
	}
	return nil
}
