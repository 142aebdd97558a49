package pgwire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// message is one of a server, with this as the length of its body.
func message(kind byte, length int, body string) string {
	return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(length+4))) + body
}

func whole(kind byte, body string) string { return message(kind, len(body), body) }

const ready = "Z\x00\x00\x00\x05I"

// login are the server's messages before the first question.
var login = whole('R', "\x00\x00\x00\x00") + whole('S', "server_version\x0018.4\x00") + whole('K', "\x00\x00\x00\x01\x00\x00\x00\x02") + ready

// through returns the part of a stream that the library sees, in pieces of any size.
func through(r io.Reader, asked int64) (string, error) {
	var s traffic
	s.reset()
	s.pending.Store(asked)
	b, err := io.ReadAll(newMessages(r, &s))
	return string(b), err
}

func TestWhatAServerSendsPassesAsItIs(t *testing.T) {
	t.Parallel()
	text := login + whole('1', "") + whole('T', "\x00\x01a\x00"+strings.Repeat("\x00", 18)) + whole('D', "\x00\x01\x00\x00\x00\x01x") +
		whole('D', strings.Repeat("x", 1<<20)) + whole('C', "SELECT 2\x00") + whole('E', "SERROR\x00C42501\x00Mno\x00\x00") +
		whole('N', "SNOTICE\x00\x00") + whole('A', "\x00\x00\x00\x01a\x00b\x00") + ready
	for what, r := range map[string]io.Reader{
		"in one piece": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)), "in halves": iotest.HalfReader(strings.NewReader(text)),
	} {
		if got, err := through(r, 2); err != nil || got != text {
			t.Errorf("%s: %d of %d bytes, %v", what, len(got), len(text), err)
		}
	}
}

func TestLiesEndTheStream(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		text string
		want error
	}{
		"a web server":              {"HTTP/1.1 400 Bad Request\r\n\r\n", ErrForeign},
		"a mail server":             {"220 mx.example ESMTP\r\n", ErrForeign},
		"a reply before the login":  {ready, ErrForeign},
		"an unknown type":           {login + "\x00\x00\x00\x00\x05x", ErrForeign},
		"a copy":                    {login + whole('H', "\x00\x00\x00"), ErrForeign},
		"a negative length":         {login + message('D', -5, ""), ErrForeign},
		"a huge row":                {login + message('D', longestMessage+1, ""), ErrForeign},
		"a message that is cut off": {login + "D\x00\x00", nil},
	} {
		if _, err := through(strings.NewReader(c.text), 1); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(login), uint8(1), uint8(3))
	f.Add([]byte(login+whole('E', "SERROR\x00Mno\x00\x00")+ready), uint8(1), uint8(1))
	f.Add([]byte(login+message('E', 1<<30, "M")), uint8(0), uint8(200))
	f.Fuzz(func(t *testing.T, in []byte, asked, size uint8) {
		got, err := through(&pieces{in, int(size) + 1}, int64(asked))
		again, failed := through(bytes.NewReader(in), int64(asked))
		if got != again || (err == nil) != (failed == nil) {
			t.Fatalf("in pieces %d bytes, %v; at once %d bytes, %v", len(got), err, len(again), failed)
		}
		if len(got) > len(in) {
			t.Fatalf("%d bytes became %d", len(in), len(got))
		}
		for rest := []byte(got); len(rest) >= headerSize; { // whatever passes can be read
			n := 1 + int(binary.BigEndian.Uint32(rest[1:]))
			if n < headerSize || n > headerSize+longestMessage {
				t.Fatalf("a message of %d bytes passes", n)
			}
			if n > len(rest) {
				break
			}
			rest = rest[n:]
		}
	})
}

// pieces is a reader that returns little at a time.
type pieces struct {
	rest []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.size, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

func FuzzQuestions(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x08\x00\x03\x00\x00"+"Q\x00\x00\x00\x05\x00"), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		count := func(size int) int64 {
			var s traffic
			q := newQuestions(io.Discard, &s)
			for rest := in; len(rest) > 0; {
				n := min(size, len(rest))
				_, _ = q.Write(rest[:n])
				rest = rest[n:]
			}
			return s.pending.Load()
		}
		if a, b := count(int(size)+1), count(len(in)+1); a != b {
			t.Fatalf("%d questions in pieces, %d at once", a, b)
		}
	})
}
