package dflocktest_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/emulator/dflocktest"
)

// TestServerAnswersTheTranscript has the conversation of testdata/v1.10.0.txt with the
// emulator, line by line.
func TestServerAnswersTheTranscript(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/v1.10.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		p := &player{t: t, nonces: map[string]string{}}
		for i, line := range strings.Split(string(text), "\n") {
			p.where = fmt.Sprintf("line %d", i+1)
			if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "==") {
				p.play(line)
			}
		}
		if p.replies < 100 {
			t.Errorf("only %d replies were compared", p.replies)
		}
	})
}

// player has a conversation.
type player struct {
	t       *testing.T
	where   string
	server  *dflocktest.Server
	conns   map[string]*raw
	nonces  map[string]string // by placeholder
	acted   time.Time
	replies int
}

func (p *player) play(line string) {
	p.t.Helper()
	name, rest, _ := strings.Cut(line, " ")
	verb, rest, _ := strings.Cut(rest, " ")
	switch {
	case verb == "<":
		p.expect(p.conns[name], rest)
		return
	case name == "start":
		p.server = start(p.t, flags(p.t, strings.Fields(line)[1:]))
		p.conns = map[string]*raw{}
	case name == "pause":
		d, err := time.ParseDuration(verb)
		if err != nil {
			p.t.Fatal(p.where, err)
		}
		time.Sleep(d)
	case line == "server restart":
		p.server.Restart()
	case line == "server sigterm":
		p.server.Shutdown()
	case verb == "open":
		p.conns[name] = dial(p.t, p.server)
	case verb == "close":
		_ = p.conns[name].Close()
	case verb == ">":
		p.conns[name].send(p.known(unquote(p.t, rest)))
	default:
		p.t.Fatalf("%s: %q is not understood", p.where, line)
	}
	p.acted = time.Now()
	synctest.Wait() // so that the server has seen it before the next thing happens
}

var placeholder = regexp.MustCompile(`<T\d+>`)

// known puts nonces in the place of their placeholders.
func (p *player) known(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(s string) string {
		if p.nonces[s] == "" {
			p.t.Fatalf("%s: %s is not known", p.where, s)
		}
		return p.nonces[s]
	})
}

func (p *player) expect(c *raw, rest string) {
	p.t.Helper()
	p.replies++
	want, when, timed := strings.Cut(rest, " after ")
	got := c.read()
	if want != "closed" {
		want = strings.TrimSuffix(unquote(p.t, want), "\n")
	}
	if s := placeholder.FindString(want); s != "" {
		nonce := strings.Fields(got + " - -")[1]
		if p.nonces[s] == "" && regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(nonce) {
			p.nonces[s] = nonce
		}
		want = p.known(want)
	}
	if comparable(got) != comparable(want) {
		p.t.Fatalf("%s: got %q, want %q", p.where, got, want)
	}
	low, high := time.Duration(0), time.Duration(0)
	if timed {
		low, high = span(p.t, when)
	}
	if took := time.Since(p.acted); took < low || took > high {
		p.t.Errorf("%s: it took %v, want %v to %v", p.where, took, low, high)
	}
}

func span(t *testing.T, when string) (low, high time.Duration) {
	t.Helper()
	first, last, ranged := strings.Cut(when, "..")
	if !ranged {
		last = first
	}
	low, err := time.ParseDuration(first)
	if err == nil {
		high, err = time.ParseDuration(last)
	}
	if err != nil {
		t.Fatal(err)
	}
	return low, high
}

func unquote(t *testing.T, s string) string {
	t.Helper()
	s, err := strconv.Unquote(s)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	measured = regexp.MustCompile(`("lease_expires_in_s"|"idle_s"):[0-9.e-]+`)
	list     = regexp.MustCompile(`\[[^\]]*\]`)
	object   = regexp.MustCompile(`\{[^{}]*\}`)
)

// comparable takes from the object of stats what is measured, and orders what has no order.
func comparable(reply string) string {
	return list.ReplaceAllStringFunc(measured.ReplaceAllString(reply, "$1:_"), func(s string) string {
		objects := object.FindAllString(s, -1)
		slices.Sort(objects)
		return "[" + strings.Join(objects, ",") + "]"
	})
}

func flags(t *testing.T, args []string) dflocktest.Options {
	t.Helper()
	o := dflocktest.Options{InMemory: true}
	for len(args) > 0 {
		if args[0] == "auto-release-on-disconnect=false" {
			o.KeepOnDisconnect, args = true, args[1:]
			continue
		}
		name, value := args[0], args[1]
		args = args[2:]
		if name == "auth-token" {
			o.Secret = value
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			t.Fatal(err)
		}
		seconds := time.Duration(n) * time.Second
		switch name {
		case "max-locks":
			o.MaxLocks = n
		case "max-waiters":
			o.MaxWaiters = n
		case "read-timeout":
			o.ReadTimeout = seconds
		case "gc-interval":
			o.GCEvery = seconds
		case "gc-max-idle":
			o.GCIdle = seconds
		case "shutdown-timeout":
			o.ShutdownTimeout = seconds
		default:
			t.Fatalf("flag %q", name)
		}
	}
	return o
}
