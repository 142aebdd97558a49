package terminal

import (
	"time"
	"unicode/utf8"
)

// Bounds of the pieces of input. A longer piece is cut, but its end is still recognized.
const (
	mostPaste    = 64 << 10 // bytes of one paste
	mostString   = 4 << 10  // bytes of one control string, such as the answer to a query
	mostSequence = 128      // bytes of the parameters of one control sequence
	mostParams   = 30       // separators between them: the decoder panics beyond 32 parameters
)

// Bubble Tea buffers unknown input until nothing came for 50 ms, so that its buffer would grow
// without bound on input without a pause. After burst bytes without a pause the limiter makes a pause
// of burstPause: between two sequences, or, if no sequence ends, after four times as many bytes.
const (
	burst      = 16 << 10
	burstPause = 100 * time.Millisecond
)

// pasteSilence is the length of a silence after which ctrl-c ends a paste without an end.
const pasteSilence = time.Second

// pasteEnd ends a paste.
const pasteEnd = "\x1b[201~"

// limiter bounds the input. It does not change input within the bounds, except for keys in the form
// of Windows, which we never enable: one of them may repeat a key 65,535 times.
type limiter struct {
	state  inputState
	length int    // of the present paste, string or parameters
	params []byte // of a control sequence
	marker int    // bytes of pasteEnd that were seen
	flow   int    // bytes since the last pause
	char   []byte // the beginning of a character
	many   int    // separators of parameters
	dcs    bool   // the string has parameters
	out    []byte // the output of limit
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

// pause returns how long to wait before the next read.
func (l *limiter) pause() time.Duration {
	if l.flow < burst || l.state != inputKeys && l.flow < 4*burst {
		return 0
	}
	l.flow = 0
	return burstPause
}

// room is the number of bytes that must be free behind the input, for the end of a paste.
const room = 8

// limit replaces the input in b[:n], which was read after a silence, by the bounded input in b, and
// returns its length. b must have room for the end of a paste.
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

// text collects the bytes of a character. It drops invalid bytes, because the decoder takes some of
// them for the beginning of a control sequence.
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

// take handles one byte: it appends to out the byte itself, a replacement, or nothing.
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

// inSequence handles a byte after esc [.
func (l *limiter) inSequence(c byte) {
	switch {
	case c >= 0x20 && c < 0x40: // parameters
		if l.length++; l.length > mostSequence || l.tooMany(c) {
			return
		}
		l.params = append(l.params, c)
	case c == 0x1b:
		l.state = inputEsc
	case c == '_': // a key in the form of Windows becomes an unknown sequence
		l.state, c = inputKeys, 'z'
	case c == '~' && string(l.params) == "200":
		l.state, l.length, l.marker = inputPaste, 0, 0
	default:
		l.state = inputKeys
	}
	l.out = append(l.out, c)
}

// tooMany counts separators of parameters and reports whether c is one too many.
func (l *limiter) tooMany(c byte) bool {
	if c == ';' || c == ':' {
		l.many++
		return l.many > mostParams
	}
	return false
}

// inString handles a byte of a control string.
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

// pasted handles a byte of a paste. It removes escapes and recognizes the end of the paste.
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

// paste appends pasted text to out, up to mostPaste.
func (l *limiter) paste(text string) {
	if l.length += len(text); l.length <= mostPaste {
		l.out = append(l.out, text...)
	}
}

// silence measures the time without input.
type silence struct{ short, long *time.Timer }

func newSilence() silence { return silence{time.NewTimer(burstPause), time.NewTimer(pasteSilence)} }

// end ends the silence and begins the next one. It returns a lower bound of its length: pasteSilence,
// burstPause or 0.
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
