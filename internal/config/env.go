package config

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
)

// FromEnv makes a config of the variables that servers are usually named with: a source
// of REDIS_URL, and one of DATABASE_URL if that is a Postgres URL, else of the service that
// PGSERVICE names, else of PGHOST, PGPORT, PGUSER, PGDATABASE and PGPASSWORD, which only
// PGHOST must be set for, and one of YDB_CONNECTION_STRING with the credentials that YDB's own tools read. The Config has no
// sources if none of them is set. The error is that of each URL that cannot be used.
func FromEnv(env Lookup) (Config, error) {
	var c Config
	var wrong []error
	add := func(variable, raw string, complete func(*Source)) {
		one, err := FromURLs([]string{raw}, variable)
		if err != nil {
			wrong = append(wrong, err)
			return
		}
		one.Sources[0].Name = ""
		complete(&one.Sources[0])
		c.Sources = append(c.Sources, one.Sources...)
	}
	asItIs := func(*Source) {}
	if raw, _ := env("REDIS_URL"); raw != "" {
		add("REDIS_URL", raw, asItIs)
	}
	if raw, _ := env("DATABASE_URL"); isType(raw, TypePostgres) {
		add("DATABASE_URL", raw, asItIs)
	} else if name, _ := env("PGSERVICE"); name != "" {
		raw, err := fromService(env, name)
		if err != nil {
			wrong = append(wrong, &Problems{List: []Problem{{Text: "PGSERVICE: " + err.Error()}}})
		} else {
			add("PGSERVICE", raw, asItIs)
		}
	} else if raw := fromPG(env); raw != "" {
		add("PGHOST", raw, func(s *Source) {
			if v, _ := env("PGPASSWORD"); v != "" {
				s.Password.Env = "PGPASSWORD"
			}
		})
	}
	if raw, _ := env(YDBVariable); isType(raw, TypeYDB) {
		add(YDBVariable, raw, func(s *Source) { fromYDB(s, env) })
	}
	nameSources(c.Sources)
	return c, errors.Join(wrong...)
}

// isType says whether a text begins as the URLs of a type do.
func isType(raw, typ string) bool {
	scheme, _, ok := strings.Cut(raw, "://")
	return ok && typeOf(strings.ToLower(scheme)) == typ
}

// YDBVariable is the environment variable that YDB's own tools are told a database with.
const YDBVariable = "YDB_CONNECTION_STRING"

// fromYDB completes a source as YDB's tools would: what the connection string says about who
// we are wins, then anonymous, then a token, then a user.
func fromYDB(s *Source, env Lookup) {
	get := func(name string) string { v, _ := env(name); return v }
	_, query, _ := strings.Cut(s.URL, "?")
	own := slices.ContainsFunc(strings.Split(query, "&"), func(p string) bool { return strings.HasPrefix(p, "ca=") && p != "ca=" })
	if strings.HasPrefix(s.Address, "grpcs://") && !own {
		s.TLS.CA = get("YDB_SSL_ROOT_CERTIFICATES_FILE")
	}
	t, _ := ParseURL(s.URL) // it was parsed before
	switch {
	case t.User != "" || t.HasPassword || get("YDB_ANONYMOUS_CREDENTIALS") == "1":
	case get("YDB_ACCESS_TOKEN_CREDENTIALS") != "":
		s.Token.Env = "YDB_ACCESS_TOKEN_CREDENTIALS"
	case get("YDB_STATIC_CREDENTIALS_USER") != "":
		s.User = get("YDB_STATIC_CREDENTIALS_USER")
		if get("YDB_STATIC_CREDENTIALS_PASSWORD") != "" {
			s.Password.Env = "YDB_STATIC_CREDENTIALS_PASSWORD"
		}
	}
}

// fromPG writes a URL of libpq's variables; "" without PGHOST. Several hosts are
// separated by commas, with one port for all or one for each. A host with a slash is the
// folder of a socket, which cannot stand before a path: it becomes a parameter.
func fromPG(env Lookup) string {
	get := func(name string) string { v, _ := env(name); return v }
	hosts := get("PGHOST")
	if hosts == "" {
		return ""
	}
	var user *url.Userinfo
	if name := get("PGUSER"); name != "" {
		user = url.User(name)
	}
	return postgresURL(user, hosts, get("PGPORT"), get("PGDATABASE"), url.Values{})
}

func postgresURL(user *url.Userinfo, hosts, ports, database string, query url.Values) string {
	u := url.URL{Scheme: "postgres", User: user, Path: "/" + database}
	if strings.Contains(hosts, "/") {
		query.Set("host", hosts)
		if ports != "" {
			query.Set("port", ports)
		}
	} else {
		u.Host = hostPorts(strings.Split(hosts, ","), strings.Split(ports, ","))
	}
	u.RawQuery = query.Encode()
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
