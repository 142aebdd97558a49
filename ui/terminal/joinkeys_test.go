package terminal

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coordtop/ui/uitest"
)

func TestSplitSequencesAreTheKeysTheyWere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		remote bool
		typed  []string
		want   string // what acts, in order
	}{
		{"an arrow in parts", false, []string{"esc", "[", "A"}, "esc up"},
		{"an arrow in parts over ssh", true, []string{"esc", "[", "A"}, "up"},
		{"an application arrow", true, []string{"esc", "O", "B"}, "down"},
		{"the introducer in one piece", true, []string{"alt+[", "B"}, "down"},
		{"home and end", true, []string{"esc", "[", "H", "esc", "O", "F"}, "home end"},
		{"a page", true, []string{"esc", "[", "5", "~", "esc", "[", "6", "~"}, "pgup pgdown"},
		{"an arrow with modifiers", true, []string{"esc", "[", "1", ";", "5", "A"}, "up"},
		{"a function key", true, []string{"esc", "O", "P"}, ""},
		{"esc, then something else", true, []string{"esc", "q"}, "esc q"},
		{"esc twice", true, []string{"esc", "esc", "q"}, "esc esc q"},
		{"esc alone over ssh, for now", true, []string{"esc"}, ""},
		{"plain keys", true, []string{"j", "[", "A", "O"}, "j [ A O"},
		{"a named key inside of a sequence", true, []string{"esc", "[", "down"}, "down"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := KeyJoiner{Remote: c.remote}
			var got []string
			for _, k := range c.typed {
				keys, _ := s.Press(uitest.Key(k))
				for _, k := range keys {
					got = append(got, k.String())
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("acted: %q, not %q", strings.Join(got, " "), c.want)
			}
		})
	}
}

func TestEscActsLateOverSSHAndIsNotLost(t *testing.T) {
	t.Parallel()
	s := KeyJoiner{Remote: true}
	if keys, cmd := s.Press(uitest.Key("esc")); len(keys) != 0 || cmd == nil {
		t.Fatal("it does not wait")
	}
	if keys := s.Timeout(JoinTimeout{gen: s.gen}); len(keys) != 1 || keys[0].String() != "esc" {
		t.Fatalf("after the wait %v acted", keys)
	}
	// The rest of a very slow arrow still is no command.
	if keys, _ := s.Press(uitest.Key("[")); len(keys) != 0 {
		t.Error("[ acted")
	}
	if keys, _ := s.Press(uitest.Key("A")); len(keys) != 1 || keys[0].Code != tea.KeyUp {
		t.Errorf("%v acted, not the arrow", keys)
	}
	s.Press(uitest.Key("esc"))
	old := s.gen
	s.Timeout(JoinTimeout{gen: old, last: true})
	if keys, _ := s.Press(uitest.Key("[")); len(keys) != 1 {
		t.Error("[ long after esc is still swallowed")
	}
	s.Press(uitest.Key("esc"))
	if keys := s.Timeout(JoinTimeout{gen: old, last: true}); len(keys) != 0 || s.state != joinEsc {
		t.Error("an old timer ended a new wait")
	}
}
