package respwire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// read plays what a server sends, in pieces, and returns what came through and the error
// that ended it; nil: the stream was read to its end.
func read(t testing.TB, l Limits, pieces ...[]byte) ([]byte, error) {
	t.Helper()
	c := New(&played{pieces: pieces}, "host:6379", l)
	got, err := io.ReadAll(c)
	if again, err2 := c.Read(make([]byte, 10)); err != nil && (again != 0 || !errors.Is(err2, err)) {
		t.Errorf("after the error %v: %d bytes, %v", err, again, err2)
	}
	return got, err
}

// played is a connection on which pieces come, one a Read at most.
type played struct {
	net.Conn
	pieces [][]byte
}

func (p *played) Read(b []byte) (int, error) {
	if len(p.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.pieces[0])
	if p.pieces[0] = p.pieces[0][n:]; len(p.pieces[0]) == 0 {
		p.pieces = p.pieces[1:]
	}
	return n, nil
}

func (p *played) Write(b []byte) (int, error) { return len(b), nil }

// bytewise is text in pieces of one byte.
func bytewise(text string) [][]byte {
	var pieces [][]byte
	for i := range len(text) {
		pieces = append(pieces, []byte{text[i]})
	}
	return pieces
}

func TestWhatIsTooLargeIsNamedAndNotPassedOn(t *testing.T) {
	t.Parallel()
	d := Defaults()
	tests := []struct{ name, good, bad, says string }{
		{"map", "", "%2147483647\r\n", "a map of 2,147,483,647 elements"},
		{"array", "+OK\r\n", "*2147483647\r\n", "an array of 2,147,483,647 elements"},
		{"push", "", ">2147483647\r\n", "a push of 2,147,483,647 elements"},
		{"push of nothing", "", ">0\r\n", "a push of 0 elements"},
		{"set", "", "~2147483647\r\n", "a set of 2,147,483,647 elements"},
		{"attribute", "", "|2147483647\r\n", "an attribute of 2,147,483,647 elements"},
		{"text", "*2\r\n$1\r\nx\r\n", "$2147483647\r\n", "a text of 2,147,483,647 bytes"},
		{"verbatim text", "", "=2147483647\r\n", "a text of 2,147,483,647 bytes"},
		{"long error", "", "!2147483647\r\n", "a text of 2,147,483,647 bytes"},
		{"length beyond an int", "", "*99999999999999999999\r\n", `an array of the length "99999999999999999999"`},
		{"negative length", "", "*-2\r\n", `an array of the length "-2"`},
		{"signed length", "", "$+5\r\n", `a text of the length "+5"`},
		{"no length", "", "*\r\n", `an array of the length ""`},
		{"streamed", "", "$?\r\n", `a text of the length "?"`},
		{"endless length", "", "*" + strings.Repeat("0", 30), "a length of more than 20 digits"},
		{"endless line", "", "+" + strings.Repeat("x", d.Line+3), "a line of more than 65,536 bytes"},
		{"endless error", ":1\r\n", "-" + strings.Repeat("x", d.Line+3), "a line of more than 65,536 bytes"},
		{"endless number", "", "(" + strings.Repeat("9", d.Line+3), "a line of more than 65,536 bytes"},
		{"HTTP", "", "HTTP/1.1 400 Bad Request\r\n\r\n", "a line that begins with 'H'"},
		{"TLS", "", "\x15\x03\x03\x00\x02\x02\x16", `a line that begins with '\x15'`},
		{"empty line", "+OK\r\n", "\r\n", `a line that begins with '\r'`},
		{"line without CR", "", "+OK\n", "a line that does not end as Redis ends lines"},
		{"deep", strings.Repeat("*1\r\n", d.Depth), "*1\r\n", "values nested more than 16 deep"},
		{"deep in attributes", strings.Repeat("|1\r\n", d.Depth), "|1\r\n", "values nested more than 16 deep"},
		{"deep in keys", strings.Repeat("%1\r\n", d.Depth), "%1\r\n", "values nested more than 16 deep"},
		{"attributes one after the other", strings.Repeat("|0\r\n", d.Attributes), "|0\r\n", "more than 16 attributes of one reply"},
		{"arrays side by side", "*3\r\n*200000\r\n", "*200000\r\n", "an answer of more than 262,144 values"},
		{"texts side by side", "*2\r\n$16000000\r\n" + strings.Repeat("x", 16_000_000) + "\r\n", "$16000000\r\n", "an answer of more than 16,777,216 bytes"},
		{"replies side by side", "$16000000\r\n" + strings.Repeat("x", 16_000_000) + "\r\n", "$16000000\r\n", "an answer of more than 16,777,216 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cuts := [][][]byte{{[]byte(tt.good + tt.bad)}, {[]byte(tt.good), []byte(tt.bad)}}
			if len(tt.good) < 100 {
				cuts = append(cuts, bytewise(tt.good+tt.bad))
			}
			for _, pieces := range cuts {
				got, err := read(t, d, pieces...)
				var wrong *Error
				if !errors.As(err, &wrong) || wrong.What != tt.says || wrong.Addr != "host:6379" {
					t.Fatalf("%v, want an Error about %s", err, tt.says)
				}
				if !bytes.HasPrefix([]byte(tt.good+tt.bad), got) || len(got) < len(tt.good) || bytes.HasSuffix(got, []byte("\n")) && len(got) > len(tt.good) {
					t.Errorf("%d bytes came through: %.60q", len(got), got)
				}
			}
		})
	}
}

func TestErrorIsASentence(t *testing.T) {
	t.Parallel()
	const want = "h:1 sent a map of 7 elements: it is not a Redis server, or something between changes its answers; check host and port"
	if got := (&Error{Addr: "h:1", What: "a map of 7 elements"}).Error(); got != want {
		t.Error(got)
	}
}

func TestLegitimateAnswersPass(t *testing.T) {
	t.Parallel()
	text := func(s string) string { return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n" }
	name := text("app:leader:" + strings.Repeat("n", 480))
	tests := map[string]string{
		"a transaction of 20,000 keys":  ">2\r\n$10\r\ninvalidate\r\n*20000\r\n" + strings.Repeat(name, 20_000),
		"the same over RESP2":           "*3\r\n$7\r\nmessage\r\n" + text("__redis__:invalidate") + "*20000\r\n" + strings.Repeat(name, 20_000),
		"a flush":                       ">2\r\n$10\r\ninvalidate\r\n_\r\n",
		"a page of SCAN":                "*2\r\n$1\r\n0\r\n*1000\r\n" + strings.Repeat(text(strings.Repeat("k", 16_000)), 1000),
		"500 keys":                      strings.Repeat(":30000\r\n:4096\r\n"+text(strings.Repeat("v", 4096))+":29999\r\n", 500),
		"500 small hashes":              strings.Repeat("%128\r\n"+strings.Repeat(text(strings.Repeat("f", 20)), 256), 500),
		"nil in both protocols":         "$-1\r\n*-1\r\n_\r\n",
		"a line as long as it may be":   "+" + strings.Repeat("x", Defaults().Line) + "\r\n",
		"an error":                      "-ERR unknown command 'x'\r\n!21\r\nSYNTAX invalid syntax\r\n",
		"numbers":                       ":-1\r\n,1.5\r\n(3492890328409238509324850943850943825024385\r\n#t\r\n,inf\r\n",
		"empty aggregates":              "*0\r\n%0\r\n~0\r\n|0\r\n+OK\r\n",
		"payload with what looks wrong": text("*99999999\r\n%99999999\r\n"),
		"as deep as it may be":          strings.Repeat("*1\r\n", Defaults().Depth) + ":1\r\n",
		"an attribute":                  "|1\r\n+ttl\r\n:1\r\n*2\r\n:1\r\n|1\r\n+a\r\n+b\r\n:2\r\n+next\r\n",
	}
	for what, stream := range tests {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if got, err := read(t, Defaults(), []byte(stream)); err != nil || string(got) != stream {
				t.Errorf("%d of %d bytes came through: %v", len(got), len(stream), err)
			}
		})
	}
}

func TestAnAnswerEndsWithTheNextWrite(t *testing.T) {
	t.Parallel()
	l := Limits{Bytes: 100, Values: 100, Depth: 3, Line: 50, Attributes: 1}
	reply := "+" + strings.Repeat("x", 40) + "\r\n"
	pieces := func(n int) (list [][]byte) {
		for range n {
			list = append(list, []byte(reply))
		}
		return list
	}
	if _, err := read(t, l, pieces(3)...); err == nil {
		t.Error("an endless answer passes")
	}
	c := New(&played{pieces: pieces(20)}, "h:1", l)
	for range 20 {
		if _, err := c.Write([]byte("PING\r\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	c = New(&played{pieces: pieces(20)}, "h:1", l)
	c.Stream()
	if got, err := io.ReadAll(c); err != nil || len(got) != 20*len(reply) {
		t.Errorf("of a stream of messages %d bytes came through: %v", len(got), err)
	}
	var wrong *Error
	c = New(&played{pieces: [][]byte{[]byte("*9\r\n"), []byte(reply), []byte(reply), []byte(reply)}}, "h:1", l)
	c.Stream()
	if _, err := io.ReadAll(c); !errors.As(err, &wrong) {
		t.Errorf("one message of a stream that is too long: %v", err)
	}
}

// TestValidStreamsPassInAnyPieces makes streams as a server would and cuts them anywhere.
func TestValidStreamsPassInAnyPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "replies") {
			writeValue(t, &b, 4)
		}
		stream := []byte(b.String())
		var pieces [][]byte
		for rest := stream; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		c := New(&played{pieces: pieces}, "h:1", Defaults())
		got, err := io.ReadAll(c)
		if s := c.(*bounded); err != nil || !bytes.Equal(got, stream) || len(s.scan.open) > 0 || s.scan.reply != (tally{}) {
			t.Fatalf("%q became %q: %v, %+v", stream, got, err, s.scan)
		}
	})
}

func writeValue(t *rapid.T, b *strings.Builder, depth int) {
	kinds := "+-:_#,($=!"
	if depth > 0 {
		kinds += "*~>%|*%"
	}
	kind := kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")]
	b.WriteByte(kind)
	switch kind {
	case '$', '=', '!':
		s := rapid.StringMatching(`[\r\n*%$|a-z0-9]{0,12}`).Draw(t, "text")
		b.WriteString(strconv.Itoa(len(s)) + "\r\n" + s + "\r\n")
	case '*', '~', '>', '%', '|':
		n := rapid.IntRange(-1, 3).Draw(t, "elements")
		if kind == '>' {
			n = max(n, 1)
		}
		b.WriteString(strconv.Itoa(n) + "\r\n")
		if kind == '%' || kind == '|' {
			n *= 2
		}
		for range max(n, 0) {
			writeValue(t, b, depth-1)
		}
		if kind == '|' {
			writeValue(t, b, depth-1)
		}
	default:
		b.WriteString(rapid.StringMatching(`[a-z0-9 ]{0,12}`).Draw(t, "line") + "\r\n")
	}
}
