package config

import "coordtop/internal/ground/lazy"

// Names of --from and team that are no groups of recorders.
const (
	FromServers = "servers" // no recorder
	FromHere    = "here"    // the recorder of this machine
	FromAll     = "all"     // the recorders of the store without a group
)

// groupName matches the names of groups of recorders, which become part of the name of a schema.
var groupName = lazy.Regexp(`^[a-z][a-z0-9_]{0,30}$`)

// history checks the recording, and the store of a team.
func (v *validator) history(h History) History {
	h.File = v.file(h.File)
	if h.GroupReads && h.File == "" {
		v.wrong("history.group_reads", "needs history.file: nobody else gets into the usual folder")
	}
	h.PasswordFile = v.file(h.PasswordFile)
	v.oneOf(h.Password(), "history", "password_env", "password_file", "password_command")
	for _, at := range []struct{ key, url string }{{"url", h.URL}, {"direct", h.Direct}} {
		where := "history." + at.key
		if at.url == "" {
			if v.wrote(where) {
				v.wrong(where, "is empty")
			}
			continue
		}
		t, err := v.backends.ParseURL(at.url)
		switch {
		case err != nil:
			v.wrong(where, "%v", err)
		case !v.backends.Of(t.Type).has(KeepsPast):
			v.wrong(where, "must be a %s: postgres://user@host:port/database", v.backends.with(KeepsPast))
		case t.HasPassword:
			v.wrong(where, "holds a password: take it out and say where it is with password_env, password_file or password_command")
		}
	}
	for _, key := range []string{"direct", "group", "password_env", "password_file", "password_command"} {
		if h.URL == "" && v.wrote("history."+key) {
			v.wrong("history."+key, "is for the store of a team: write its history.url too")
		}
	}
	switch {
	case h.Group == FromHere || h.Group == FromAll || h.Group == FromServers:
		v.wrong("history.group", "must not be here, all or servers, which --from has for something else")
	case h.Group != "" && !groupName().MatchString(h.Group):
		v.wrong("history.group", "must be small letters, digits and _, a letter first")
	}
	return h
}

// team checks whose view is shown.
func (v *validator) team(name string, h History) {
	switch {
	case name == "" || name == FromHere || name == FromServers:
	case !groupName().MatchString(name):
		v.wrong("team", "must be here, all, servers, or the history.group of recorders: small letters, digits and _")
	case h.URL == "":
		v.wrong("team", "is about the store of a team: write history.url too, or take here, the recorder of this machine")
	}
}
