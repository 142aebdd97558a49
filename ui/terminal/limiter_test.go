package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// through passes pieces to a limiter, with a silence before each.
func through(apart time.Duration, pieces ...string) string {
	l := &limiter{}
	var out strings.Builder
	for _, p := range pieces {
		b := make([]byte, len(p)+room)
		out.Write(b[:l.limit(b, copy(b, p), apart)])
	}
	return out.String()
}

func TestWhatATerminalUsuallySendsIsHandedOnAsItIs(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"jk:q\r\x03\x1c\t\x7f", "höhe ☃ 𝕏", "\x1b", "\x1b[A\x1bOB\x1b[1;5C\x1b[15~", "\x1b[92;5u\x1b[?1u", "\x1b[<35;10;10M",
		"\x1b[I\x1b[O", "\x1b]11;rgb:0000/0000/0000\x1b\\x", "\x1b]11;rgb:ffff/ffff/ffff\ax", "\x1bP1+r5463;524742=1\x1b\\x", "\x1b[?2026;2$y",
		"\x1b[200~q\rW\nhöhe\x1b[201~x", "\x1b\x1b[A",
	} {
		if got := through(0, s); got != s {
			t.Errorf("%q became %q", s, got)
		}
		if got := through(time.Millisecond, strings.Split(s, "")...); strings.ToValidUTF8(s, "") == s && got != s {
			t.Errorf("%q in pieces became %q", s, got)
		}
	}
}

func TestWhatATerminalSendsWithoutAnEndIsBounded(t *testing.T) {
	t.Parallel()
	x := strings.Repeat("x", 1000)
	for name, c := range map[string]struct {
		begin, again, end string
		most              int
	}{
		"a paste":           {"\x1b[200~", x, "\x1b[201~", mostPaste},
		"escapes in pastes": {"\x1b[200~", "\x1b[1;1;1\x1b]", "\x1b[201~", mostPaste},
		"a string":          {"\x1b]52;c;", x, "\x1b\\", mostString},
		"parameters":        {"\x1b[", "1;", "m", mostSequence},
		"a DCS":             {"\x1bP", "1;", "\x1b\\", mostString},
	} {
		out := through(0, append([]string{c.begin}, append(strings.Split(strings.Repeat(c.again+"\x00", 100_000/len(c.again)), "\x00"), c.end+"after")...)...)
		if len(out) > c.most+100 || !strings.HasSuffix(out, c.end+"after") {
			t.Errorf("%s: %d bytes, the end is %q", name, len(out), out[max(0, len(out)-40):])
		}
	}
	if got := through(time.Second, "\x1b["+strings.Repeat("1;", 20), strings.Repeat("1;", 20)+"m"); strings.Count(got, ";") > mostParams {
		t.Errorf("parameters after a pause: %q", got)
	}
	if got := through(2*time.Second, "\x1b[200~never", "\x03"); got != "\x1b[200~never\x1b[201~\x03" {
		t.Errorf("ctrl-c in a paste without an end became %q", got)
	}
	if got := through(0, "\x1b[200~abc\x03", "\x03"); strings.Contains(got, "201") {
		t.Errorf("what is pasted at once became %q", got)
	}
}

func TestAFloodIsGivenPausesBetweenSequences(t *testing.T) {
	t.Parallel()
	l := &limiter{}
	b := make([]byte, burst+room)
	l.limit(b, copy(b, bytes.Repeat([]byte("j"), burst-1)), 0)
	if d := l.pause(); d != 0 {
		t.Errorf("a pause of %v before it is one", d)
	}
	l.limit(b, copy(b, "\x1b["), 0)
	if d := l.pause(); d != 0 {
		t.Errorf("a pause of %v in a sequence", d)
	}
	l.limit(b, copy(b, "A"), 0)
	if l.pause() == 0 || l.pause() != 0 {
		t.Error("not one pause after a burst")
	}
}

func FuzzWhatATerminalSendsIsDecodedWithoutAPanic(f *testing.F) {
	for _, s := range []string{
		"\x1b[" + strings.Repeat("1;", 50) + "m", "\x1bP" + strings.Repeat(":", 50) + "q", "\x9b" + strings.Repeat("1;", 50) + "m",
		"\xe0\x9b" + strings.Repeat("1;", 50), "\x1b[200~\x1b[" + strings.Repeat("1;", 50) + "\x1b[201~", "\x1b[65;0;65;1;0;65535_", "\x1b]1;\x1b[" + strings.Repeat("1;", 50),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := []byte(through(0, string(in)))
		p := ansi.NewParser()
		var state byte
		for len(out) > 0 { // as Bubble Tea's decoder reads it
			_, _, n, next := ansi.DecodeSequence(out, state, p)
			out, state = out[max(n, 1):], next
		}
	})
}
