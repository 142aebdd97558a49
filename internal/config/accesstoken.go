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
	var given []string
	for _, key := range []string{"token_env", "token_file"} {
		if !v.wrote(path + "." + key) {
			continue
		}
		given = append(given, key)
		if b != nil && !b.has(Tokens) {
			v.wrong(path+"."+key, "only %s takes this; write %s", v.backends.with(Tokens), strings.Replace(key, "token", "password", 1))
		}
	}
	s := Secret{Env: f.TokenEnv, File: v.file(f.TokenFile), Token: len(given) > 0}
	switch user := f.User != "" || t.User != ""; {
	case len(given) > 1:
		v.wrong(path+".token_file", "token_env is there too: keep one")
		return Secret{}
	case len(given) == 1 && s.IsZero():
		v.wrong(path+"."+given[0], "is empty")
		return Secret{}
	case len(given) == 1 && user:
		v.wrong(path+"."+given[0], "there is a user too: a user has a password, a token is for itself; keep one")
	case len(given) == 1 && !password.IsZero():
		v.wrong(path+"."+given[0], "there is a password too: keep one")
	case b.has(Tokens) && len(given) == 0 && !user && !password.IsZero():
		v.wrong(path+".user", "missing: whose password is it")
	}
	return s
}
