package terminal

import (
	"time"
	"unicode/utf8"
)

// Bounds of what a terminal may send in one piece. A longer piece is cut, and its end is
// still seen.
const (
	mostPaste    = 64 << 10 // bytes of one paste
	mostString   = 4 << 10  // of one control string, as the answer to a question has it
	mostSequence = 128      // of the parameters of one control sequence
	mostParams   = 30       // separators between them: the decoder panics beyond 32 parameters
)

// Bubble Tea keeps what it does not understand until nothing came for 50 ms, so that
// input without a pause would be kept without an end. A pause of burstPause is made for it
// after burst bytes without a pause of the terminal's own: between two sequences, or, where
// none ends, after four times as many.
const (
	burst      = 16 << 10
	burstPause = 100 * time.Millisecond
)

// pasteSilence is how long nothing came before a ctrl-c that ends a paste which has no end.
const pasteSilence = time.Second

// pasteEnd ends a paste.
const pasteEnd = "\x1b[201~"

// limiter bounds what a terminal sends. It does not change anything a terminal sends that
// keeps to the bounds, except for keys in the form that Windows has for them, which nobody
// asked for: one of them may stand for 65,535.
type limiter struct {
	state  inputState
	length int    // of what is under way: a paste, a string, parameters
	params []byte // of a control sequence
	marker int    // bytes of pasteEnd that were seen
	flow   int    // bytes since the last pause
	char   []byte // the beginning of a character
	many   int    // separators of parameters
	dcs    bool   // the string has parameters
	out    []byte // what is handed on
}

type inputState uint8

const (
	inputKeys inputState = iota
	inputEsc
	inputSequence
	inputString
	inputStringEsc // after esc in a string
	inputPaste
)

// pause is how long to wait before the next read.
func (l *limiter) pause() time.Duration {
	if l.flow < burst || l.state != inputKeys && l.flow < 4*burst {
		return 0
	}
	l.flow = 0
	return burstPause
}

// room is what must be free behind what is read, for the end of a paste.
const room = 8

// limit takes what was read into b[:n] after a silence, and returns how many bytes of b are
// to be handed on. b has room for more.
func (l *limiter) limit(b []byte, n int, silence time.Duration) int {
	if silence >= burstPause {
		l.flow = 0
		if l.state != inputPaste {
			l.length = 0 // it may have been keys; Bubble Tea may still think otherwise
		}
	}
	if l.state == inputPaste && silence >= pasteSilence && n == 1 && b[0] == 3 {
		l.state = inputKeys
		return copy(b, pasteEnd+"\x03")
	}
	l.flow += n
	l.out = l.out[:0]
	for _, c := range b[:n] {
		l.text(c)
	}
	return copy(b, l.out)
}

// text puts the bytes of a character together. Other bytes are dropped: the decoder takes
// some such bytes for the beginning of a control sequence.
func (l *limiter) text(c byte) {
	if c < utf8.RuneSelf {
		l.char = l.char[:0]
		l.take(c)
		return
	}
	l.char = append(l.char, c)
	if !utf8.FullRune(l.char) {
		return
	}
	if r, n := utf8.DecodeRune(l.char); n == len(l.char) && n > 1 && r >= 0xa0 {
		for _, c := range l.char {
			l.take(c)
		}
	}
	l.char = l.char[:0]
}

// take hands on one byte, or something else in its place, or nothing.
func (l *limiter) take(c byte) {
	switch l.state {
	case inputPaste:
		l.pasted(c)
		return
	case inputString, inputStringEsc:
		l.inString(c)
		return
	case inputSequence:
		l.inSequence(c)
		return
	case inputEsc:
		l.length, l.params, l.many, l.dcs = 0, l.params[:0], 0, c == 'P'
		switch c {
		case '[':
			l.state = inputSequence
		case ']', 'P', '_', '^', 'X':
			l.state = inputString
		case 0x1b:
		default:
			l.state = inputKeys
		}
	default:
		if c == 0x1b {
			l.state = inputEsc
		}
	}
	l.out = append(l.out, c)
}

// inSequence takes what follows esc [.
func (l *limiter) inSequence(c byte) {
	switch {
	case c >= 0x20 && c < 0x40: // parameters
		if l.length++; l.length > mostSequence || l.tooMany(c) {
			return
		}
		l.params = append(l.params, c)
	case c == 0x1b:
		l.state = inputEsc
	case c == '_': // a key as Windows has it: what is put here is no key
		l.state, c = inputKeys, 'z'
	case c == '~' && string(l.params) == "200":
		l.state, l.length, l.marker = inputPaste, 0, 0
	default:
		l.state = inputKeys
	}
	l.out = append(l.out, c)
}

// tooMany counts separators of parameters.
func (l *limiter) tooMany(c byte) bool {
	if c == ';' || c == ':' {
		l.many++
		return l.many > mostParams
	}
	return false
}

// inString takes what follows the introducer of a control string, to its end.
func (l *limiter) inString(c byte) {
	switch {
	case c == 7 || c == 0x18 || c == 0x1a, c == '\\' && l.state == inputStringEsc:
		l.state = inputKeys
	case l.state == inputStringEsc: // esc ends it too, and begins what follows
		l.state = inputEsc
		l.take(c)
		return
	case c == 0x1b:
		l.state = inputStringEsc
	default:
		if l.length++; l.length > mostString || l.dcs && l.tooMany(c) {
			return
		}
	}
	l.out = append(l.out, c)
}

// pasted takes what is pasted, without its escapes, and the end of the paste.
func (l *limiter) pasted(c byte) {
	held := l.marker
	switch {
	case c == pasteEnd[held]:
		l.marker++
	case c == pasteEnd[0]:
		l.marker = 1
	default:
		l.marker = 0
	}
	if l.marker == len(pasteEnd) {
		l.out = append(l.out, pasteEnd...)
		l.state = inputKeys
		return
	}
	if l.marker > held {
		return // it may be the end
	}
	if held > 0 {
		l.paste(pasteEnd[1:held])
	}
	if l.marker == 0 {
		l.paste(string([]byte{c}))
	}
}

// paste hands on what is pasted, as far as it may go.
func (l *limiter) paste(text string) {
	if l.length += len(text); l.length <= mostPaste {
		l.out = append(l.out, text...)
	}
}

// silence measures for how long nothing came.
type silence struct{ short, long *time.Timer }

func newSilence() silence { return silence{time.NewTimer(burstPause), time.NewTimer(pasteSilence)} }

// end ends it and begins the next one. It lasted at least so long:
// pasteSilence, burstPause or 0.
func (s silence) end() time.Duration {
	var lasted time.Duration
	select {
	case <-s.long.C:
		lasted = pasteSilence
	default:
		select {
		case <-s.short.C:
			lasted = burstPause
		default:
		}
	}
	s.short.Reset(burstPause)
	s.long.Reset(pasteSilence)
	return lasted
}
