package app

import (
	"cmp"
	"errors"
	"slices"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/format"
	"coordtop/ui/keys"
)

// load reads a config file and checks what only the board knows: its keys. All that is
// wrong comes in one error, a *config.Problems.
func (p *program) load(path string) (config.Config, error) {
	c, err := backends.Config().Load(path, p.env.Lookup)
	wrong := &config.Problems{Path: path}
	if err != nil && !errors.As(err, &wrong) {
		return c, err
	}
	for _, one := range keys.Check(keysOf(c)) {
		path := "keys"
		if one.Known {
			path += "." + one.Action
		}
		at := slices.IndexFunc(c.Keys, func(k config.KeyChange) bool { return k.Action == one.Action })
		wrong.List = append(wrong.List, config.Problem{
			Line: c.Keys[at].Line, Column: c.Keys[at].Column, Path: path, Text: format.Clean(one.Text, 0),
		})
	}
	if len(wrong.List) == 0 {
		return c, nil
	}
	slices.SortStableFunc(wrong.List, func(a, b config.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c, wrong
}

// keysOf are the keys that a config changes, as the board takes them.
func keysOf(c config.Config) map[string][]string {
	keys := make(map[string][]string, len(c.Keys))
	for _, k := range c.Keys {
		keys[k.Action] = k.Keys
	}
	return keys
}
