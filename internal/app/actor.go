package app

import (
	"cmp"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"

	"coordtop/internal/config"
	"coordtop/internal/operate"
)

// actor is who sits here, as far as the machine knows.
func actor(lookup config.Lookup) operate.Actor {
	var a operate.Actor
	if u, err := user.Current(); err == nil {
		a.User = u.Username
	} else {
		a.User = "uid " + strconv.Itoa(os.Getuid())
	}
	if host, err := os.Hostname(); err == nil {
		a.Host = host
	}
	if ssh, _ := lookup("SSH_CONNECTION"); ssh != "" {
		if f := strings.Fields(ssh); len(f) >= 2 {
			a.SSH = net.JoinHostPort(f[0], f[1])
		}
	}
	return a
}

const defaultIdentity = "{user}@{host}:{pid}"

// identityOf fills in the template of our label. Where it is too long the host gives way:
// who and which process must stay.
func identityOf(template string, who operate.Actor) string {
	template = cmp.Or(template, defaultIdentity)
	host := plainASCII(who.Host)
	fill := func(host string) string {
		return strings.NewReplacer("{user}", plainASCII(who.User), "{host}", host, "{pid}", strconv.Itoa(os.Getpid())).Replace(template)
	}
	full := fill(host)
	if over := len(full) - config.MaxIdentity; over > 0 && strings.Contains(template, "{host}") {
		full = fill(host[:max(1, len(host)-over)])
	}
	return full[:min(len(full), config.MaxIdentity)]
}

// plainASCII makes what no label may hold into _, and nothing into "unknown".
func plainASCII(s string) string {
	if s == "" {
		return "unknown"
	}
	return strings.Map(func(r rune) rune {
		if !config.InIdentity(r) {
			return '_'
		}
		return r
	}, s)
}
