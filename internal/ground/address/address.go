package address

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Login decodes user[:password], the text before the @.
func Login(text string) (user, password string, err error) {
	user, password, _ = strings.Cut(text, ":")
	if user, err = url.PathUnescape(user); err != nil {
		return "", "", errors.New("a bad % in the user: write % itself as %25")
	}
	if password, err = url.PathUnescape(password); err != nil {
		return "", "", errors.New("a bad % in the password: write % itself as %25")
	}
	return user, password, nil
}

// Host returns host:port for host[:port], with the usual port if text has no port. An IPv6 address must stand in
// brackets. The error about a missing host shows example, a whole URL.
func Host(text, usual, example string) (string, error) {
	name, port := text, usual
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		name, port = text[:i], text[i+1:]
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		ip, err := netip.ParseAddr(strings.Replace(inner, "%25", "%", 1)) // a zone, such as [fe80::1%25eth0]
		if !ok || err != nil || !ip.Is6() {
			return "", fmt.Errorf("a bad IPv6 address: write it as [::1]:%s", usual)
		}
		name = ip.String()
	} else if strings.ContainsAny(name, ":[]@/,") {
		return "", fmt.Errorf("a bad host: write it as host:%s, an IPv6 address as [::1]:%s", usual, usual)
	}
	if name == "" {
		return "", fmt.Errorf("a host is missing: write it as %s", example)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("a bad port: it is a number from 1 to 65535")
	}
	return net.JoinHostPort(name, port), nil
}

// Network returns the network of an address: "unix" for the path of a socket, "tcp" for host:port.
func Network(addr string) string {
	if strings.HasPrefix(addr, "/") {
		return "unix"
	}
	return "tcp"
}

// Hosts calls Host for each element of a comma-separated list.
func Hosts(list, usual, example string) (addrs []string, err error) {
	for text := range strings.SplitSeq(list, ",") {
		addr, err := Host(text, usual, example)
		if err != nil {
			return addrs, err
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}

// Timeout reads the value of a parameter that is a length of time above 0.
func Timeout(name, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("a bad %s: write it as 1500ms or 2s", name)
	}
	return d, nil
}

// Parameters calls set with the name and the decoded value (%XX, and + as a blank) of each parameter of a query, in
// order. It stops at the first error. An @ in the query is an error, see [NoAt].
func Parameters(query string, set func(name, value string) error) error {
	if err := NoAt(query); err != nil {
		return err
	}
	for i, part := range strings.Split(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		value, err := url.QueryUnescape(value)
		if err != nil {
			return fmt.Errorf("a bad %% in parameter %d behind the ?: write %% itself as %%25", i+1)
		}
		if err := set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// ErrParameter reports an unknown URL parameter.
var ErrParameter = errors.New("unknown parameter")

// URL holds the parts of a server's URL. Only user and password are decoded.
type URL struct {
	Scheme         string // in lower case; "": the address has no scheme
	Authority      string // login and hosts as written
	Login          bool   // there is an @
	User, Password string
	Hosts          string // one, or several separated by commas
	Path           string // with its slash; "" without a path
	Query          string // after the ?
}

// Split splits a URL into its parts. Even with an error it returns the scheme, so that the caller can report an unknown
// scheme first. It does not reject an @ in the query: the caller calls [NoAt].
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

// NoAt rejects an @ after the hosts. It probably belongs to a login whose user or password contains a / or a ?, which
// ended the hosts too early.
func NoAt(rest string) error {
	if strings.Contains(rest, "@") {
		return errors.New("an @ behind the host: in a user or a password write / as %2F and ? as %3F, elsewhere @ as %40")
	}
	return nil
}
