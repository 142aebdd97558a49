package config

import (
	"errors"
	"slices"
	"strings"
)

// FromEnv makes a config from environment variables: for each backend, a source from the first of its Variables that
// names a server. The Config has no sources if no variable is set. The error joins the errors of variables that cannot
// be used.
func (all Backends) FromEnv(env Lookup) (Config, error) {
	var c Config
	var wrong []error
	for i := range all {
		for _, v := range all[i].Variables {
			raw, err := all[i].named(v, env)
			if err != nil {
				wrong = append(wrong, &Problems{List: []Problem{{Text: v.Name + ": " + err.Error()}}})
				break
			}
			if raw == "" {
				continue
			}
			one, err := all.FromURLs([]string{raw}, v.Name)
			if err != nil {
				wrong = append(wrong, err)
				break
			}
			s := one.Sources[0]
			if s.Name = ""; v.Add != nil {
				v.Add(&s, env)
			}
			c.Sources = append(c.Sources, s)
			break
		}
	}
	all.nameSources(c.Sources)
	return c, errors.Join(wrong...)
}

// named returns the URL in a variable; "" if the variable names no server of this backend.
func (b *Backend) named(v Variable, env Lookup) (string, error) {
	raw := v.value(env)
	switch {
	case raw != "" && v.URL != nil:
		return v.URL(env)
	case v.Typed && !b.owns(raw):
		return "", nil
	}
	return raw, nil
}

// value returns the value of the variable, or of the first other one that names a server in its place.
func (v Variable) value(env Lookup) string {
	for _, name := range append([]string{v.Name}, v.Also...) {
		if value, _ := env(name); value != "" {
			return value
		}
	}
	return ""
}

// owns reports whether a text begins with a scheme of the backend.
func (b *Backend) owns(raw string) bool {
	lower := strings.ToLower(raw)
	return slices.ContainsFunc(b.Schemes, func(s Scheme) bool { return strings.HasPrefix(lower, s.Name+"://") })
}

// Unused returns, for people, each variable and the reason why it names no server.
func (all Backends) Unused(env Lookup) (list [][2]string) {
	for i := range all {
		for _, v := range all[i].Variables {
			state := "not set"
			if v.value(env) != "" {
				var schemes []string
				for _, s := range all[i].Schemes {
					if s.Shown != "" {
						schemes = append(schemes, s.Name+"://...")
					}
				}
				state = "set, but not to " + strings.Join(schemes, " or ")
			}
			list = append(list, [2]string{"$" + v.Name, state})
		}
	}
	return list
}
