package app

import (
	"errors"

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
	for _, one := range keys.Check(c.Keys) {
		problem := c.Problem("keys."+one.Action, format.Clean(one.Text, 0))
		if one.Known {
			problem.Path = "keys." + one.Action
		}
		wrong.List = append(wrong.List, problem)
	}
	return c, wrong.Err()
}
