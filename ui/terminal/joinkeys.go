package terminal

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// KeyJoiner joins keys that a slow link has split: an arrow key whose bytes arrive more than 50 ms
// apart is read as esc, `[` and `A`. Without a KeyJoiner, esc would clear a filter and the letter
// would be a command.
//
// Over ssh, esc is held back for holdEsc, to see whether `[` or `O` follows. The rest of the
// sequence is accepted within joinKeys, even if esc has acted already.
type KeyJoiner struct {
	Remote bool // over ssh: esc waits
	state  joinState
	held   bool // an esc is held back
	params string
	gen    int // of the present sequence: older timers are ignored
}

type joinState uint8

const (
	joinNone joinState = iota
	joinEsc            // after esc
	joinCSI            // after esc [
	joinSS3            // after esc O
)

const (
	holdEsc  = 150 * time.Millisecond
	joinKeys = 300 * time.Millisecond
)

// JoinTimeout reports the end of a timer of the sequence gen.
type JoinTimeout struct {
	gen  int
	last bool // the sequence is over; else only a held esc is released
}

var escKey = tea.KeyPressMsg{Code: tea.KeyEscape}

// Press handles a key. It returns the keys that act now, and a command that runs a timer, if one is
// needed.
func (j *KeyJoiner) Press(k tea.KeyPressMsg) ([]tea.KeyPressMsg, tea.Cmd) {
	name := k.String()
	switch j.state {
	case joinEsc:
		if name == "[" || name == "O" {
			j.introduce(name)
			return nil, nil
		}
		out := j.release()
		j.state = joinNone
		more, cmd := j.Press(k)
		return append(out, more...), cmd
	case joinCSI, joinSS3:
		return j.sequence(k, name)
	}
	switch name {
	case "esc":
		j.gen++
		j.state, j.held = joinEsc, j.Remote
		if j.Remote {
			return nil, tea.Batch(j.timer(holdEsc, false), j.timer(joinKeys, true))
		}
		return []tea.KeyPressMsg{escKey}, j.timer(joinKeys, true)
	case "alt+[", "alt+O", "alt+shift+o":
		j.gen++
		j.introduce(strings.TrimPrefix(name, "alt+"))
		return nil, j.timer(joinKeys, true)
	}
	return []tea.KeyPressMsg{k}, nil
}

// introduce begins a sequence after its introducer, `[` or `O`.
func (j *KeyJoiner) introduce(by string) {
	j.state, j.held, j.params = joinSS3, false, ""
	if by == "[" {
		j.state = joinCSI
	}
}

// sequence handles a key after the introducer of a sequence.
func (j *KeyJoiner) sequence(k tea.KeyPressMsg, name string) ([]tea.KeyPressMsg, tea.Cmd) {
	if len(name) != 1 {
		j.state = joinNone
		return j.Press(k)
	}
	c := name[0]
	if j.state == joinCSI && (c >= '0' && c <= '9' || c == ';') && len(j.params) < 16 {
		j.params += name
		return nil, nil
	}
	j.state = joinNone
	if c == '~' {
		name = j.params + name // elsewhere they are modifiers
	}
	if code, ok := sequenceKeys[name]; ok {
		return []tea.KeyPressMsg{{Code: code}}, nil
	}
	return nil, nil // an unknown key: none of its letters is a command
}

// sequenceKeys holds the keys that terminals send as esc [ or esc O and these bytes.
var sequenceKeys = map[string]rune{"A": tea.KeyUp, "B": tea.KeyDown, "C": tea.KeyRight, "D": tea.KeyLeft, "H": tea.KeyHome, "F": tea.KeyEnd,
	"1~": tea.KeyHome, "7~": tea.KeyHome, "4~": tea.KeyEnd, "8~": tea.KeyEnd, "5~": tea.KeyPgUp, "6~": tea.KeyPgDown}

// Timeout handles the end of a timer and returns the keys that act now.
func (j *KeyJoiner) Timeout(t JoinTimeout) []tea.KeyPressMsg {
	if t.gen != j.gen {
		return nil
	}
	if t.last {
		j.state = joinNone
	}
	return j.release()
}

func (j *KeyJoiner) release() []tea.KeyPressMsg {
	if !j.held {
		return nil
	}
	j.held = false
	return []tea.KeyPressMsg{escKey}
}

func (j *KeyJoiner) timer(d time.Duration, last bool) tea.Cmd {
	t := JoinTimeout{gen: j.gen, last: last}
	return tea.Tick(d, func(time.Time) tea.Msg { return t })
}
