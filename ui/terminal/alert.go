package terminal

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Alert calls for a person through the terminal. The zero Alert calls nobody.
type Alert struct {
	how     string // "bell" or "osc"
	tmux    bool
	takes99 bool
	old     bool // it takes OSC 777 rather than OSC 9
}

// NewAlert returns an Alert: how is "bell", or "osc" for a notification of the desktop and the bell; else nobody is
// called.
func NewAlert(how string, env Environ) Alert {
	a := Alert{how: how, tmux: env.Get("TMUX") != ""}
	a.old = strings.HasPrefix(env.Get("TERM"), "rxvt") || env.Get("VTE_VERSION") != ""
	return a
}

// On reports whether anybody is called.
func (a *Alert) On() bool { return a.how == "bell" || a.how == "osc" }

// query is the beginning of the question whether a terminal takes OSC 99, and of its answer.
const query = "\x1b]99;i=coordtop:p=?;"

// Query returns the question that the terminal has to be asked; "": none.
func (a *Alert) Query() string {
	if a.how != "osc" || a.tmux { // tmux does not pass the answer on
		return ""
	}
	return query + "\x1b\\"
}

// Answer takes a message of the program, which may be the answer to Query.
func (a *Alert) Answer(msg any) {
	if text, ok := msg.(fmt.Stringer); ok && a.Query() != "" && !a.takes99 { // Bubble Tea has no type for it, and quotes it
		a.takes99 = strings.Contains(text.String(), query[1:])
	}
}

// Sequence returns what makes the terminal call. text is one line, without controls.
func (a *Alert) Sequence(text string) string {
	if !a.On() {
		return ""
	}
	seq := ""
	switch {
	case a.how == "bell":
	case a.takes99:
		seq = ansi.DesktopNotification(text, "i=coordtop", "o=unfocused")
	case a.old:
		seq = ansi.URxvtExt("notify", "coordtop", strings.ReplaceAll(text, ";", ","))
	default:
		seq = ansi.Notify(text)
	}
	if seq != "" && a.tmux {
		seq = ansi.TmuxPassthrough(seq)
	}
	return seq + "\a"
}
