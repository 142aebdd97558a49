package terminal

import "strings"

// Environ is what the environment says about the terminal: "NAME=value" each.
type Environ []string

// Get returns the value of a variable, of the last one where there are several.
func (e Environ) Get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// ASCII reports whether the terminal is not known to draw more than ASCII. A locale that
// is not set says nothing: containers have none.
func (e Environ) ASCII() bool {
	if t := e.Get("TERM"); t == "linux" || t == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(e.Get(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}

// Remote reports whether keys come over ssh.
func (e Environ) Remote() bool { return e.Get("SSH_TTY") != "" || e.Get("SSH_CONNECTION") != "" }
