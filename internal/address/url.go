package address

import (
	"errors"
	"strings"
)

// ErrParameter reports an unknown URL parameter.
var ErrParameter = errors.New("unknown parameter")

// URL is the URL of a server taken apart. Only user and password are decoded.
type URL struct {
	Scheme         string // in lower case; "": there is none
	Authority      string // login and hosts as written
	Login          bool   // there is an @
	User, Password string
	Hosts          string // one, or several with commas
	Path           string // with its slash; "" if there is none
	Query          string // behind the ?
}

// Split takes a URL apart. The scheme is returned also with an error, so that the caller can
// report an unknown one first. An @ in the query is for [NoAt].
func Split(raw string) (URL, error) {
	var u URL
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return u, errors.New("not a URL: it begins with its scheme and ://")
	}
	u.Scheme = strings.ToLower(scheme)
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return u, errors.New("a space or a control character in it: write it as %20 and so on")
	}
	if strings.Contains(rest, "#") {
		return u, errors.New("a # in it: write it as %23")
	}
	rest, u.Query, _ = strings.Cut(rest, "?")
	u.Authority, u.Hosts = rest, rest
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		u.Authority, u.Hosts, u.Path = rest[:i], rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(u.Authority, '@'); i >= 0 {
		var err error
		if u.User, u.Password, err = Login(u.Authority[:i]); err != nil {
			return u, err
		}
		u.Login, u.Hosts = true, u.Authority[i+1:]
	}
	return u, NoAt(u.Path)
}

// NoAt refuses an @ in what stands behind the hosts: it is likely that a user or a password with
// a / or a ? in it was cut there.
func NoAt(rest string) error {
	if strings.Contains(rest, "@") {
		return errors.New("an @ behind the host: in a user or a password write / as %2F and ? as %3F, elsewhere @ as %40")
	}
	return nil
}
