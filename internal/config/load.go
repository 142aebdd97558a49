package config

import (
	"context"
	"fmt"
	"path/filepath"

	"coordtop/internal/files"
)

// maxFile bounds a config file.
const maxFile = 256 << 10

// EnvPath is the environment variable that names the config file.
const EnvPath = "COORDTOP_CONFIG"

// Locate says where the config file is looked for: $COORDTOP_CONFIG, which must exist
// if it is set, else $XDG_CONFIG_HOME/coordtop/config.yaml, which is ~/.config where
// that is not set. The path is "" where not even a home directory is known.
func Locate(env Lookup) (path string, must bool) {
	if p, _ := env(EnvPath); p != "" {
		return p, true
	}
	if dir := Dir(env, "XDG_CONFIG_HOME", ".config"); dir != "" {
		return filepath.Join(dir, "config.yaml"), false
	}
	return "", false
}

// Dir returns coordtop's directory below that of an XDG variable, or below its usual
// place in the home directory; "" if neither is known. A relative path in the variable
// is ignored, as the XDG specification asks.
func Dir(env Lookup, variable, usual string) string {
	if base, _ := env(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "coordtop")
	}
	if home, _ := env("HOME"); home != "" {
		return filepath.Join(home, usual, "coordtop")
	}
	return ""
}

// Load reads and checks a config file, or what comes out of a pipe. The error is a *Problems
// if the file could be read; it wraps fs.ErrNotExist if there is none, and repeats no path at
// which there is nothing.
func (all Backends) Load(path string, env Lookup) (Config, error) {
	data, _, err := files.Read(context.Background(), path, maxFile)
	if err != nil {
		return Config{}, fmt.Errorf("reading the config: %w", err)
	}
	return all.Parse(data, path, env)
}

// Parse checks a config that was read from path, which file names in it are relative
// to. The error is a *Problems with everything that is wrong.
func (all Backends) Parse(data []byte, path string, env Lookup) (Config, error) {
	f, d := decode(data, path)
	home, _ := env("HOME")
	v := &validator{decoder: d, backends: all, dir: filepath.Dir(path), home: home}
	c := v.config(f)
	c.Path = path
	return c, d.problems.Err()
}
