package dflocktest

import (
	"bufio"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzRequest gives the parser whatever a client may send, and the model what it makes of it.
func FuzzRequest(f *testing.F) {
	f.Add("l\nk\n0\nl\nk\n1 2\nr\nk\nx\nstats\n_\n\n")
	f.Add("sl\nk\n0 2\nse\nk\n2 9\nsw\nk\n3\nsn\nk\nx 4\nsr\nk\nx\n")
	f.Add("e\nk\n\nw\nk\n0\nauth\n_\nx\nping\n_\n\nl\r\nk\r\n1 1\r\n")
	f.Add("l\nk\n9223372036 9223372036\nl\nk\n-1\nl\nk\n+1 007\nl\n\xff\n0\n" + strings.Repeat("x", 300))
	f.Add("e\nk\n10000000000\nl\nk\n99999999999 99999999999\n")
	f.Fuzz(func(t *testing.T, input string) {
		m := newModel(Options{MaxWaiters: 3}.withDefaults(), time.Unix(1_000_000, 0))
		r := bufio.NewReader(strings.NewReader(input))
		for turn := 0; ; turn++ {
			var lines [3]string
			for i := range lines {
				line, err := readLine(r, mostLine)
				if err != nil {
					checkModel(t, m)
					return
				}
				if len(line) > mostLine || strings.Contains(line, "\n") {
					t.Fatalf("%q was read as one line", line)
				}
				lines[i] = line
			}
			checkRequest(t, lines, false)
			checkRequest(t, lines, true)
			answers := 0
			c := m.open(func(answer) { answers++ })
			m.request(c, lines[0], lines[1], lines[2])
			m.request(c, "w", lines[1], "0")
			if answers == 0 && c.waits == nil {
				t.Fatalf("%q has no answer", lines)
			}
			m.advance(m.now.Add(time.Duration(turn) * time.Second))
		}
	})
}

// checkRequest compares what parse makes of three lines with what the protocol allows.
func checkRequest(t *testing.T, lines [3]string, bounds bool) {
	t.Helper()
	r, ok := parse(lines[0], lines[1], lines[2], bounds)
	if !ok {
		return
	}
	if !slices.Contains([]string{"l", "r", "n", "e", "w", "auth", "stats", "ping"}, r.verb) {
		t.Errorf("%q is a request of verb %q", lines, r.verb)
	}
	if bounds && (r.wait < 0 || r.lease < 0) || r.limit < 1 || r.semaphore && r.verb == lines[0] {
		t.Errorf("%q is %+v", lines, r)
	}
}

func checkModel(t *testing.T, m *model) {
	t.Helper()
	for key, e := range m.entries {
		if len(e.owners) > e.limit || len(e.owners) < e.limit && len(e.queue) > 0 {
			t.Errorf("%v has %d of %d owners and %d waiters", key, len(e.owners), e.limit, len(e.queue))
		}
	}
}
