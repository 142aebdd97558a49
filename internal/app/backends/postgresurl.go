package backends

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coordtop/internal/config"
)

// postgresParameter reads lists of locks and of channels. The server refuses the rest.
func postgresParameter(t *config.Target, key, value string) (ours bool, err error) {
	kind, watched := config.WatchKind(key)
	switch {
	case watched || key == "locks":
		keys, err := config.List(key, value, "4242,17:-4")
		for _, k := range keys {
			t.Watch = append(t.Watch, config.Watch{Kind: kind, Pattern: k})
		}
		return true, err
	case key == "channels":
		names, err := config.List(key, value, "jobs,events")
		t.Channels = append(t.Channels, names...)
		return true, err
	}
	return false, postgresSetting(key, value)
}

// setting is what the name of a setting of Postgres looks like.
var setting = regexp.MustCompile(`^[A-Za-z_]{1,40}([.][A-Za-z_]{1,40})?$`)

func postgresSetting(key, value string) error {
	ours := []string{"locks", "keys", "election", "mutex", "channels"}
	if err := config.Misspelt(key, ours...); err != nil {
		return err
	}
	switch modes := []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}; {
	case key == "node":
		return errors.New("node= is for YDB: write locks=, election= or mutex=")
	case !setting.MatchString(key):
		return fmt.Errorf("no setting of Postgres has such a name: write ? and & in a password as %%3F and %%26; to select there are %s=", strings.Join(ours, "=, "))
	case key == "sslmode" && !slices.Contains(modes, value):
		return fmt.Errorf("sslmode= takes %s", strings.Join(modes, ", "))
	case key == "host" || key == "hostaddr":
		if text, err := url.QueryUnescape(value); err == nil {
			value = text
		}
		return config.FewHosts(value)
	case key == "connect_timeout":
		if _, err := strconv.ParseUint(value, 10, 31); err != nil {
			return errors.New("connect_timeout= takes a whole number of seconds")
		}
	}
	return nil
}

// postgresVariables are a URL that programs of all kinds are told, and those of libpq.
func postgresVariables() []config.Variable {
	return []config.Variable{
		{Name: "DATABASE_URL", Typed: true},
		{Name: "PGSERVICE", URL: fromService},
		{
			Name: "PGHOST", URL: fromPG, With: "also PGPORT, PGUSER, PGDATABASE and PGPASSWORD",
			Add: func(s *config.Source, env config.Lookup) {
				if v, _ := env("PGPASSWORD"); v != "" {
					s.Password.Env = "PGPASSWORD"
				}
			},
		},
	}
}

// fromPG writes a URL of libpq's variables. Several hosts are
// separated by commas, with one port for all or one for each. A host with a slash is the
// folder of a socket, which cannot stand before a path: it becomes a parameter.
func fromPG(env config.Lookup) (string, error) {
	get := func(name string) string { v, _ := env(name); return v }
	hosts := get("PGHOST")
	var user *url.Userinfo
	if name := get("PGUSER"); name != "" {
		user = url.User(name)
	}
	return postgresURL(user, hosts, get("PGPORT"), get("PGDATABASE"), url.Values{}), nil
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
