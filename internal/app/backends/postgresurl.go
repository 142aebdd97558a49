package backends

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"coordtop/internal/config"
	"coordtop/internal/ground/files"
	"coordtop/internal/ground/lazy"
)

// postgresParameter reads lists of locks and of channels. All others are settings of Postgres.
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

// setting matches the name of a setting of Postgres.
var setting = lazy.Regexp(`^[A-Za-z_]{1,40}([.][A-Za-z_]{1,40})?$`)

func postgresSetting(key, value string) error {
	ours := []string{"locks", "keys", "election", "mutex", "channels"}
	if err := config.Misspelt(key, ours...); err != nil {
		return err
	}
	switch modes := []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}; {
	case key == "node":
		return errors.New("node= is for YDB: write locks=, election= or mutex=")
	case !setting().MatchString(key):
		return fmt.Errorf("no setting of Postgres has such a name: write ? and & in a password as %%3F and %%26; to select there are %s=", strings.Join(ours, "=, "))
	case key == "sslmode" && !slices.Contains(modes, value):
		return fmt.Errorf("sslmode= takes %s", strings.Join(modes, ", "))
	case key == "connect_timeout":
		if _, err := strconv.ParseUint(value, 10, 31); err != nil {
			return errors.New("connect_timeout= takes a whole number of seconds")
		}
	}
	return nil
}

// postgresVariables are the usual variable for a URL, and those of libpq.
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

// fromPG makes a URL of libpq's variables.
func fromPG(env config.Lookup) (string, error) {
	return postgresURL(complete(map[string]string{}, env)), nil
}

// complete adds the values of libpq's variables to settings, but for the password.
func complete(settings map[string]string, env config.Lookup) map[string]string {
	for key, variable := range map[string]string{"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"} {
		if value, _ := env(variable); settings[key] == "" && value != "" {
			settings[key] = value
		}
	}
	return settings
}

// postgresURL makes a URL of settings of libpq. Several hosts are separated by commas, with one port for all or one for
// each. A host with a slash is the folder of a socket, which cannot stand before a path: it becomes a parameter.
func postgresURL(settings map[string]string) string {
	u, query := url.URL{Scheme: "postgres", Path: "/" + settings["dbname"]}, url.Values{}
	switch name, password := settings["user"], settings["password"]; {
	case password != "":
		u.User = url.UserPassword(name, password)
	case name != "":
		u.User = url.User(name)
	}
	for key, value := range settings {
		if !slices.Contains([]string{"host", "port", "dbname", "user", "password"}, key) {
			query.Set(key, value)
		}
	}
	hosts, ports := settings["host"], settings["port"]
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

// fromService makes a URL of a service of libpq: a section of $PGSERVICEFILE, or of ~/.pg_service.conf. As in libpq,
// its settings override the other variables. No error repeats the service or a line of the file.
func fromService(env config.Lookup) (string, error) {
	service, _ := env("PGSERVICE")
	path, _ := env("PGSERVICEFILE")
	if home, _ := env("HOME"); path == "" {
		path = filepath.Join(home, ".pg_service.conf")
	}
	data, _, err := files.Read(context.Background(), path, 256<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the file of services: %w: make ~/.pg_service.conf, or name another in PGSERVICEFILE", err)
	}
	if err != nil {
		return "", fmt.Errorf("the file of services: %w", err)
	}
	text, line, wrong := config.PlainText(data)
	if wrong != "" {
		return "", fmt.Errorf("the file of services, line %d: %s", line, wrong)
	}
	settings, err := serviceSettings(string(text), service)
	if err != nil {
		return "", err
	}
	if password, _ := env("PGPASSWORD"); settings["password"] == "" && password != "" {
		settings["password"] = password
	}
	return postgresURL(complete(settings, env)), nil
}

// serviceSettings reads the section of a service.
func serviceSettings(text, service string) (map[string]string, error) {
	var settings map[string]string
	line := 0
	for raw := range strings.Lines(text) {
		line++
		raw = strings.TrimSpace(raw)
		switch {
		case raw == "", raw[0] == '#':
		case raw[0] == '[':
			if settings != nil {
				return settings, nil
			}
			if raw == "["+service+"]" {
				settings = map[string]string{}
			}
		case settings != nil:
			key, value, ok := strings.Cut(raw, "=")
			if !ok {
				return nil, fmt.Errorf("the file of services, line %d: it must be name=value", line)
			}
			if key = strings.TrimSpace(key); settings[key] == "" { // the first counts
				settings[key] = strings.TrimSpace(value)
			}
		}
	}
	if settings == nil {
		return nil, errors.New("the file of services has no section for what it names: write [name] and settings below it, as host=db1")
	}
	return settings, nil
}
