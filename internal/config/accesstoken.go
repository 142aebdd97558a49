package config

import "strings"

// whereSecrets lists the keys that say where a source's secret is.
func whereSecrets(b *Backend) string {
	if b.has(Tokens) {
		return "password_env, password_file, password_command, token_env or token_file"
	}
	return "password_env, password_file or password_command"
}

// token reads where an access token is, and what else would prove who we are.
func (v *validator) token(f *fileSource, t Target, b *Backend, password Secret, path string) Secret {
	s := Secret{Env: f.TokenEnv, File: v.file(f.TokenFile), Token: true}
	where := v.oneOf(s, path, "token_env", "token_file")
	if where != "" && b != nil && !b.has(Tokens) {
		v.wrong(where, "%s; write %s", v.backends.onlyWith(Tokens), strings.Replace(where[len(path)+1:], "token", "password", 1))
	}
	switch user := f.User != "" || t.User != ""; {
	case where == "":
		if b.has(Tokens) && !user && !password.IsZero() {
			v.wrong(path+".user", "missing: whose password is it")
		}
		return Secret{}
	case s.IsZero():
	case user:
		v.wrong(where, "there is a user too: a user has a password, a token is for itself; keep one")
	case !password.IsZero():
		v.wrong(where, "there is a password too: keep one")
	}
	return s
}
