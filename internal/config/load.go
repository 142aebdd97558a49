package config

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"coordtop/internal/ground/files"
)

// maxFile bounds a config file.
const maxFile = 256 << 10

// EnvPath is the environment variable that names the config file.
const EnvPath = "COORDTOP_CONFIG"

// Locate returns the path of the config file: $COORDTOP_CONFIG, which must exist if it is set, otherwise config.yaml in
// Dir of XDG_CONFIG_HOME or ~/.config. The path is "" if not even a home directory is known. must reports whether the
// file must exist.
func Locate(env Lookup) (path string, must bool) {
	if p, _ := env(EnvPath); p != "" {
		return p, true
	}
	if dir := Dir(env, "XDG_CONFIG_HOME", ".config"); dir != "" {
		return filepath.Join(dir, "config.yaml"), false
	}
	return "", false
}

// Dir returns coordtop's directory below the one in an XDG variable, or below the usual one in the home directory; ""
// if neither is known. A relative path in the variable is ignored, as the XDG specification demands.
func Dir(env Lookup, variable, usual string) string {
	if base, _ := env(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "coordtop")
	}
	if home, _ := env("HOME"); home != "" {
		return filepath.Join(home, usual, "coordtop")
	}
	return ""
}

// Load reads and checks a config file, or a pipe. The error is a *Problems if the file could be read. If no such file
// exists, the error wraps fs.ErrNotExist and does not repeat the path.
func (all Backends) Load(path string, env Lookup) (Config, error) {
	data, _, err := files.Read(context.Background(), path, maxFile)
	if err != nil {
		return Config{}, fmt.Errorf("reading the config: %w", err)
	}
	return all.Parse(data, path, env)
}

// Parse checks a config that was read from path. File names in it are relative to the folder of path. The error is a
// *Problems with everything that is wrong.
func (all Backends) Parse(data []byte, path string, env Lookup) (Config, error) {
	f, d := decode(data, path)
	home, _ := env("HOME")
	v := &validator{decoder: d, backends: all, dir: filepath.Dir(path), home: home}
	c := v.config(f)
	c.Path = path
	return c, d.problems.Err()
}

// FromURLs makes a config from URLs, with one source for each, named by its hosts or its type. The error is a *Problems
// with every URL that cannot be used. It names a URL by its entry in places, such as "argument 2", or by its number if
// places has none.
func (all Backends) FromURLs(urls []string, places ...string) (Config, error) {
	var c Config
	var problems Problems
	for i, raw := range urls {
		t, err := all.ParseURL(raw)
		if err != nil {
			place := fmt.Sprintf("argument %d", i+1)
			if i < len(places) {
				place = places[i]
			}
			problems.List = append(problems.List, Problem{Text: fmt.Sprintf("%s: %s%v", place, all.shownScheme(raw), err)})
			continue
		}
		c.Sources = append(c.Sources, Source{
			Type: t.Type, URL: t.URL, Address: t.Address, Watch: t.Watch, Nodes: t.Nodes, Channels: t.Channels,
		})
	}
	all.nameSources(c.Sources)
	return c, (&problems).Err()
}

// shownScheme returns the scheme of a URL for a message. Messages repeat nothing else of a wrong URL, because any other
// word could be the password.
func (all Backends) shownScheme(raw string) string {
	scheme, _, ok := strings.Cut(raw, "://")
	scheme = strings.ToLower(scheme)
	if b, _ := all.byScheme(scheme); !ok || b == nil {
		return ""
	}
	return scheme + "://...: "
}
