package respwire

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// pushed reads what a server pushes, in pieces.
func pushed(l Limits, pieces [][]byte) (string, error) {
	c := New(&played{pieces: pieces}, "host:6379", l)
	c.Stream()
	got, err := io.ReadAll(c)
	return string(got), err
}

// names is a list of n names.
func names(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", n)
	for i := range n {
		name := fmt.Sprintf("app:\r\nlock:%d", i)
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(name), name)
	}
	return b.String()
}

// TestALongListIsPassedOnEmpty pushes more names than are passed on, cut anywhere.
func TestALongListIsPassedOnEmpty(t *testing.T) {
	t.Parallel()
	l := small()
	l.List = 10
	const short, pong = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n", "+PONG\r\n"
	for _, message := range []string{">2\r\n$10\r\ninvalidate\r\n", "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n"} {
		full := message + names(10) + pong
		if got, err := pushed(l, bytewise(full)); err != nil || got != full {
			t.Errorf("as many as are passed on: %q, %v", got, err)
		}
		stream, want := short+message+names(1000)+pong+short, short+message+"*0\r\n"+pong+short
		for _, pieces := range [][][]byte{bytewise(stream), {[]byte(stream)}, {[]byte(stream[:len(short)+len(message)+2]), []byte(stream[len(short)+len(message)+2:])}} {
			if got, err := pushed(l, pieces); err != nil || got != want {
				t.Errorf("%d pieces became %q, %v; want %q", len(pieces), got, err, want)
			}
		}
		for _, bad := range []string{"*1\r\n$1\r\nx\r\n", ":1\r\n", "$-1\r\n", "$\r\n", "$9999999\r\n", "\r\n"} {
			var wrong *Error
			if got, err := pushed(l, bytewise(message+"*1000\r\n$1\r\na\r\n"+bad)); !errors.As(err, &wrong) || got != message+"*0\r\n" {
				t.Errorf("with %q in it: %q, %v", bad, got, err)
			}
		}
		if _, err := pushed(l, bytewise(message+"*999999999999\r\n")); err == nil {
			t.Error("a list that no server has passes")
		}
	}
	deep := ">2\r\n$10\r\ninvalidate\r\n*1\r\n" + names(1000)
	if _, err := pushed(l, bytewise(deep)); err == nil {
		t.Error("a long list within a list passes")
	}
	if _, err := read(t, l, []byte(">2\r\n$10\r\ninvalidate\r\n"+names(1000))); err == nil {
		t.Error("a long list in an answer passes")
	}
}
