package backends

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"coordtop/internal/config"
	"coordtop/internal/files"
)

// fromService writes a URL of a service of libpq's: a section of $PGSERVICEFILE, or of
// ~/.pg_service.conf. As in libpq it counts more than the other variables, which complete it.
// No error repeats the service or a line of the file.
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
