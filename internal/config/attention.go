package config

import (
	"cmp"
	"maps"
	"net/url"
	"slices"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/internal/objective"
	"coordtop/sources"
)

// owner reads a rule for the names of owners.
func (v *validator) owner(o fileOwner, path string) sources.OwnerRules {
	if o.Label == "" && o.Host == "" && o.Program == "" {
		v.wrong(path+".label", "missing: what to show, with $1 for the first group; or set host or program")
	}
	if o.Match == "" {
		v.wrong(path+".match", "missing: a regular expression for the owner's text")
	} else if re := v.expression(path+".match", o.Match); re != nil {
		return sources.OwnerRules{{Match: re, Label: o.Label, Host: o.Host, Program: o.Program}}
	}
	return nil
}

// runbooks reads the URLs of the runbooks, each for one pattern.
func (v *validator) runbooks(list map[string]string) map[diagnose.Pattern]string {
	all := map[diagnose.Pattern]string{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		pattern, ok := diagnose.PatternNamed(name)
		if !ok {
			v.wrong(join("runbooks", name), "nothing of this name is found; `coordtop help why` lists the names")
			continue
		}
		if u, err := url.Parse(list[name]); err != nil || !isReceiver(list[name]) || u.User != nil {
			v.wrong(join("runbooks", name), "must be a URL that begins with https:// or http://, without a password")
			continue
		}
		v.plain(join("runbooks", name), list[name])
		all[pattern] = list[name]
	}
	return all
}

// objectives reads the objectives, each for the names that fit a pattern.
func (v *validator) objectives(list map[string]string, h *History) (all []objective.Objective) {
	for _, pattern := range slices.Sorted(maps.Keys(list)) {
		path := join("objectives", pattern)
		o, err := objective.Parse(pattern, list[pattern])
		switch keep := cmp.Or(h.Keep, history.UsualKeep); {
		case err != nil:
			v.wrong(path, "%v", err)
		case h.Off:
			v.wrong(path, "needs the recording: take history.off out")
		case o.Over > keep:
			v.wrong(path, "needs a recording of %s, and %s are kept: set history.keep", format.Age(o.Over), format.Age(keep))
		}
		all = append(all, o)
	}
	return all
}
