package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// FromEnv makes a config of the variables that servers are usually named with: a source
// of REDIS_URL, and one of DATABASE_URL if that is a Postgres URL, else of PGHOST, PGPORT,
// PGUSER, PGDATABASE and PGPASSWORD, which only PGHOST must be set for. The Config has no
// sources if none of them is set. The error is that of each URL that cannot be used.
func FromEnv(env Lookup) (Config, error) {
	var c Config
	var wrong []error
	add := func(variable, raw string, password Secret) {
		one, err := FromURLs([]string{raw})
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", variable, err))
			return
		}
		one.Sources[0].Name, one.Sources[0].Password = "", password
		c.Sources = append(c.Sources, one.Sources...)
	}
	if raw, _ := env("REDIS_URL"); raw != "" {
		add("REDIS_URL", raw, Secret{})
	}
	if raw, _ := env("DATABASE_URL"); isPostgres(raw) {
		add("DATABASE_URL", raw, Secret{})
	} else if raw := fromPG(env); raw != "" {
		var password Secret
		if v, _ := env("PGPASSWORD"); v != "" {
			password.Env = "PGPASSWORD"
		}
		add("PGHOST", raw, password)
	}
	nameSources(c.Sources)
	return c, errors.Join(wrong...)
}

// isPostgres says whether a text begins as a Postgres URL does.
func isPostgres(raw string) bool {
	scheme, _, ok := strings.Cut(raw, "://")
	return ok && typeOf(strings.ToLower(scheme)) == TypePostgres
}

// fromPG writes a URL of libpq's variables; "" without PGHOST. Several hosts are
// separated by commas, with one port for all or one for each. A host with a slash is the
// folder of a socket, which cannot stand before a path: it becomes a parameter.
func fromPG(env Lookup) string {
	get := func(name string) string { v, _ := env(name); return v }
	hosts, ports := get("PGHOST"), get("PGPORT")
	if hosts == "" {
		return ""
	}
	u := url.URL{Scheme: "postgres", Path: "/" + get("PGDATABASE")}
	if user := get("PGUSER"); user != "" {
		u.User = url.User(user)
	}
	if strings.Contains(hosts, "/") {
		query := url.Values{"host": {hosts}}
		if ports != "" {
			query.Set("port", ports)
		}
		u.RawQuery = query.Encode()
	} else {
		u.Host = hostPorts(strings.Split(hosts, ","), strings.Split(ports, ","))
	}
	return u.String()
}

func hostPorts(hosts, ports []string) string {
	for i, host := range hosts {
		port := ports[min(i, len(ports)-1)]
		switch {
		case port != "":
			hosts[i] = net.JoinHostPort(host, port)
		case strings.Contains(host, ":"):
			hosts[i] = "[" + host + "]"
		}
	}
	return strings.Join(hosts, ",")
}
