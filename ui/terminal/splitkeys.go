package terminal

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// SplitKeys puts keys together again that a slow link has cut: an arrow whose bytes
// arrive more than 50 ms apart is read as esc, then `[`, then `A`. Without this, esc
// would clear a filter and the letter would be taken for a command.
//
// Over ssh an esc is held back for holdEsc, to see whether `[` or `O` follows. What
// follows within joinKeys is taken as the key that it was, also where esc has acted
// already.
type SplitKeys struct {
	Remote bool // over ssh: esc waits
	state  splitState
	held   bool // an esc has not been handed on yet
	params string
	gen    int // of the sequence that is being watched: older timers are ignored
}

type splitState uint8

const (
	splitNone splitState = iota
	splitEsc             // after esc
	splitCSI             // after esc [
	splitSS3             // after esc O
)

const (
	holdEsc  = 150 * time.Millisecond
	joinKeys = 300 * time.Millisecond
)

// SplitTimeout ends the wait that was begun with the same gen.
type SplitTimeout struct {
	gen  int
	last bool // nothing more is waited for; else only a held esc is handed on
}

var escKey = tea.KeyPressMsg{Code: tea.KeyEscape}

// Press takes a key and returns those that are to act now, and a command if a timer
// is to run.
func (s *SplitKeys) Press(k tea.KeyPressMsg) ([]tea.KeyPressMsg, tea.Cmd) {
	name := k.String()
	switch s.state {
	case splitEsc:
		if name == "[" || name == "O" {
			s.state, s.held, s.params = splitCSI, false, ""
			if name == "O" {
				s.state = splitSS3
			}
			return nil, nil
		}
		out := s.release()
		s.state = splitNone
		more, cmd := s.Press(k)
		return append(out, more...), cmd
	case splitCSI, splitSS3:
		return s.sequence(k, name)
	}
	switch name {
	case "esc":
		s.gen++
		s.state, s.held = splitEsc, s.Remote
		if s.Remote {
			return nil, tea.Batch(s.timer(holdEsc, false), s.timer(joinKeys, true))
		}
		return []tea.KeyPressMsg{escKey}, s.timer(joinKeys, true)
	case "alt+[", "alt+O", "alt+shift+o":
		s.gen++
		s.state, s.held, s.params = splitCSI, false, ""
		if name != "alt+[" {
			s.state = splitSS3
		}
		return nil, s.timer(joinKeys, true)
	}
	return []tea.KeyPressMsg{k}, nil
}

// sequence takes what follows an introducer.
func (s *SplitKeys) sequence(k tea.KeyPressMsg, name string) ([]tea.KeyPressMsg, tea.Cmd) {
	if len(name) != 1 {
		s.state = splitNone
		return s.Press(k)
	}
	c := name[0]
	if s.state == splitCSI && (c >= '0' && c <= '9' || c == ';') && len(s.params) < 16 {
		s.params += name
		return nil, nil
	}
	s.state = splitNone
	if code, ok := sequenceKey(c, s.params); ok {
		return []tea.KeyPressMsg{{Code: code}}, nil
	}
	return nil, nil // some other key: no letter of it is a command
}

// sequenceKey names the key that a terminal sends as these bytes.
func sequenceKey(final byte, params string) (rune, bool) {
	switch final {
	case 'A':
		return tea.KeyUp, true
	case 'B':
		return tea.KeyDown, true
	case 'C':
		return tea.KeyRight, true
	case 'D':
		return tea.KeyLeft, true
	case 'H':
		return tea.KeyHome, true
	case 'F':
		return tea.KeyEnd, true
	case '~':
		switch params {
		case "1", "7":
			return tea.KeyHome, true
		case "4", "8":
			return tea.KeyEnd, true
		case "5":
			return tea.KeyPgUp, true
		case "6":
			return tea.KeyPgDown, true
		}
	}
	return 0, false
}

// Timeout takes an ended timer and returns the keys that are to act now.
func (s *SplitKeys) Timeout(t SplitTimeout) []tea.KeyPressMsg {
	if t.gen != s.gen {
		return nil
	}
	if t.last {
		s.state = splitNone
	}
	return s.release()
}

func (s *SplitKeys) release() []tea.KeyPressMsg {
	if !s.held {
		return nil
	}
	s.held = false
	return []tea.KeyPressMsg{escKey}
}

func (s *SplitKeys) timer(d time.Duration, last bool) tea.Cmd {
	t := SplitTimeout{gen: s.gen, last: last}
	return tea.Tick(d, func(time.Time) tea.Msg { return t })
}
