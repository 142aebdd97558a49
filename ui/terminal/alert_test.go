package terminal

import (
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
)

func TestATerminalIsCalledInTheWayThatItTakes(t *testing.T) {
	t.Parallel()
	answer := uv.UnknownOscEvent("\x1b]99;i=coordtop:p=?;o=always:c=1\x1b\\")
	for _, c := range []struct {
		how      string
		env      Environ
		answers  bool
		question bool
		want     string
	}{
		{"", nil, true, false, ""},
		{"off", nil, true, false, ""},
		{"bell", Environ{"TMUX=/tmp/x"}, false, false, "\a"},
		{"osc", nil, true, true, "\x1b]99;i=coordtop:o=unfocused;a; b\a\a"},
		{"osc", Environ{"TERM=xterm-256color"}, false, true, "\x1b]9;a; b\a\a"},
		{"osc", Environ{"TERM=rxvt-unicode-256color"}, false, true, "\x1b]777;notify;coordtop;a, b\a\a"},
		{"osc", Environ{"VTE_VERSION=7600"}, false, true, "\x1b]777;notify;coordtop;a, b\a\a"},
		{"osc", Environ{"TMUX=/tmp/x"}, true, false, "\x1bPtmux;\x1b\x1b]9;a; b\a\x1b\\\a"},
	} {
		a := NewAlert(c.how, c.env)
		if got := a.Query(); (got != "") != c.question {
			t.Errorf("%q %v: asks %q", c.how, c.env, got)
		}
		a.Answer(uv.UnknownOscEvent("\x1b]11;rgb:0/0/0\x1b\\"))
		if c.answers {
			a.Answer(answer)
		}
		if got := a.Sequence("a; b"); got != c.want {
			t.Errorf("%q %v: %q, want %q", c.how, c.env, got, c.want)
		}
	}
}
