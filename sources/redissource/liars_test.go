package redissource

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coordtop/coord/rediscoord"
	"coordtop/internal/emulator/liartest"
	"coordtop/internal/ground/raced"
	"coordtop/sources"
)

// huge is longer than any header that a Redis sends.
const huge = "2147483647\r\n"

// TestLiarIsNamed connects to servers that say what no Redis says. Each costs its own source
// a sentence. What it would cost the program is measured on the program itself.
func TestLiarIsNamed(t *testing.T) {
	t.Parallel()
	const notRedis = "it is not a Redis server"
	pushed := func(text string) liartest.Answer { // once something is tracked
		return liartest.About("ping", func(w io.Writer, _ []string) error { return liartest.Say(w, text) })
	}
	tests := []struct {
		name   string
		answer liartest.Answer
		says   string // "": any sentence, or one about no keys
	}{
		{"a map in answer to HELLO", liartest.About("hello", liartest.Always("%"+huge)), "sent a map of 2,147,483,647 elements: " + notRedis},
		{"an array in answer to HELLO", liartest.About("hello", liartest.Always("*"+huge)), notRedis},
		{"a push in answer to HELLO", liartest.About("hello", liartest.Always(">"+huge)), notRedis},
		{"an attribute in answer to HELLO", liartest.About("hello", liartest.Always("|"+huge)), notRedis},
		{"an endless line in answer to HELLO", liartest.About("hello", liartest.Ever("-ERR")), notRedis},
		{"attributes without end in answer to HELLO", liartest.About("hello", liartest.Ever("|0\r\n")), notRedis},
		{"pushes without end in answer to HELLO", liartest.About("hello", liartest.Ever(">2\r\n+x\r\n+y\r\n")), notRedis},
		{"errors without end in answer to HELLO", liartest.About("hello", liartest.Ever("-ERR unknown command\r\n")), ""},
		{"a text in answer to INFO", liartest.About("info", liartest.Always("$"+huge)), notRedis},
		{"a verbatim text in answer to INFO", liartest.About("info", liartest.Always("="+huge)), notRedis},
		{"an endless array in answer to ROLE", liartest.About("role", liartest.Ever("*1\r\n")), notRedis},
		{"an endless map in answer to ROLE", liartest.About("role", liartest.Ever("%1\r\n")), notRedis},
		{"an endless set in answer to ROLE", liartest.About("role", liartest.Ever("~1\r\n")), notRedis},
		{"an empty array in answer to ROLE", liartest.About("role", liartest.Always("*0\r\n")), ""},
		{"an array in answer to SCAN", liartest.About("scan", liartest.Always("*2\r\n$1\r\n0\r\n*"+huge)), notRedis},
		{"names without end in answer to SCAN", liartest.About("scan", func(w io.Writer, _ []string) error {
			return errors.Join(liartest.Say(w, "*2\r\n$1\r\n0\r\n*262000\r\n"), liartest.Endlessly(w, liartest.Text(strings.Repeat("n", 1000))))
		}), notRedis},
		{"a page of SCAN with one element", liartest.About("scan", liartest.Always("*1\r\n$1\r\n0\r\n")), ""},
		{"a value", about("getrange", "$"+huge), notRedis},
		{"an error in answer to PTTL", about("pttl", "!"+huge), notRedis},
		{"a push after tracking", pushed("+PONG\r\n>" + huge), notRedis},
		{"a push without elements", pushed("+PONG\r\n>0\r\n"), notRedis},
		{"pushes that name nothing", pushed("+PONG\r\n>1\r\n+invalidate\r\n>1\r\n:1\r\n>2\r\n$10\r\ninvalidate\r\n:1\r\n"), ""},
		{"HTTP", liartest.Always("HTTP/1.1 400 Bad Request\r\n\r\n"), notRedis},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			liar := liartest.RedisForTest(t, tt.answer)
			err := converse(t, client(liar.Addr(), "", ""), tt.says == "")
			if err == nil && tt.says == "" {
				return
			}
			var said *sources.Problem
			if !errors.As(err, &said) || !strings.Contains(said.Text, tt.says) || tt.says != "" && !strings.HasPrefix(said.Text, liar.Addr()) {
				t.Fatal(err)
			}
			if len(said.Text) > 300 || strings.ContainsAny(said.Text, "\r\n\x1b") {
				t.Errorf("%.400q", said.Text)
			}
		})
	}
}

// about lists one key, which is read as any other but for one command.
func about(words, lie string) liartest.Answer {
	return liartest.About("scan", func(w io.Writer, _ []string) error {
		return liartest.Say(w, "*2\r\n$1\r\n0\r\n*1\r\n"+liartest.Text("app:leader:x"))
	}).But(words, liartest.Always(lie))
}

// converse watches until the source fails, or until it has listed all keys.
func converse(t *testing.T, c rediscoord.ClientOptions, listed bool) error {
	t.Helper()
	c.DialTimeout = testLimit
	s := New(Options{Name: "src", Client: c, Selections: leaders(), Silence: testLimit}) // what has no end is read for long by a busy machine
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.Connect(t.Context()); err != nil {
		return err
	}
	for {
		if change, err := s.Next(t.Context()); err != nil || listed && change.Synced {
			return err
		}
	}
}

// TestPushesBetweenTwoPingsMayBeMany has an honest server push more between two pings than
// one answer may be long.
func TestPushesBetweenTwoPingsMayBeMany(t *testing.T) {
	t.Parallel()
	const pushes, names, size = 40, 1000, 600 // 24 MB
	push := ">2\r\n$10\r\ninvalidate\r\n*1000\r\n" + strings.Repeat(liartest.Text("other:"+strings.Repeat("n", size)), names)
	var tracked, pings atomic.Int64
	server := liartest.RedisForTest(t, liartest.Answer(liartest.Honest).But("client tracking", func(w io.Writer, _ []string) error {
		tracked.Store(1)
		return liartest.Say(w, "+OK\r\n")
	}).But("ping", func(w io.Writer, command []string) error {
		if tracked.Load() == 1 {
			for range pushes {
				if err := liartest.Say(w, push); err != nil {
					return err
				}
			}
			pings.Add(1)
		}
		return liartest.Honest(w, command)
	}))
	s := New(Options{Name: "src", Client: client(server.Addr(), "", ""), Selections: leaders(), Silence: time.Hour})
	defer s.Close()
	noError(t, s.Connect(t.Context()))
	for pings.Load() < 3 {
		if _, err := s.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEndlessListingIsCut scans a server that makes up names for ever, and reads them.
func TestEndlessListingIsCut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it computes for 10 s, and twelve times as long with the race detector")
	}
	raced.Alone(t, "it computes for 10 s, and twelve times as long with the race detector")
	var made atomic.Int64
	liar := liartest.RedisForTest(t, liartest.About("scan", func(w io.Writer, _ []string) error {
		var b strings.Builder
		b.WriteString("*2\r\n$1\r\n7\r\n*100\r\n")
		for range 100 {
			b.WriteString(liartest.Text("app:leader:" + strconv.FormatInt(made.Add(1), 10) + strings.Repeat("n", 10_000)))
		}
		return liartest.Say(w, b.String())
	}).But("pttl", liartest.Always(":-1\r\n")).But("getrange", liartest.Always(liartest.Text("host:1"))))
	s := New(Options{Name: "src", Client: client(liar.Addr(), "", ""), Silence: time.Hour})
	defer s.Close()
	noError(t, s.Connect(t.Context()))
	rows, kept := map[string]bool{}, 0
	for synced, warned := false, false; !synced; {
		c, err := s.Next(t.Context())
		noError(t, err)
		if c.About != nil {
			text := strings.Join(c.About.Warnings, "; ") // where the machine is busy, time is up first
			warned = strings.Contains(text, "more keys than one source may keep") || strings.Contains(text, "looked at so far")
		}
		if synced = c.Synced; synced && !warned {
			t.Error("nobody is warned")
		}
		for _, p := range c.Set {
			if !rows[p.Name] {
				rows[p.Name] = true
				kept += len(p.Name) + textOf(p)
			}
		}
	}
	if len(rows) == 0 || kept > mostText {
		t.Errorf("%d rows that take %d bytes", len(rows), kept)
	}
}

// TestPushedNamesAreBounded has more names pushed than can be read.
func TestPushedNamesAreBounded(t *testing.T) {
	t.Parallel()
	b := newInbox()
	for i := range mostNotices + 10 {
		b.add(strconv.Itoa(i), notice{}, "")
	}
	if len(b.notices) != mostNotices || !b.overflowed() || b.overflowed() {
		t.Errorf("%d notices", len(b.notices))
	}
	b.add("0", notice{}, "set")
	if len(b.notices["0"].events) != 1 {
		t.Error("a name that is there takes no more events")
	}
}

// TestWhoNamesKeysMayHaveMore counts how many keys find room, with ordinary names and with
// long ones.
func TestWhoNamesKeysMayHaveMore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		list []Selection
		name string
		want int
	}{
		{nil, "app:leader:" + strings.Repeat("n", 53), mostGuessed},
		{leaders(), "app:leader:" + strings.Repeat("n", 53), mostNamed},
		{nil, "app:leader:" + strings.Repeat("n", 5000), mostText / 5031},
		{leaders(), "app:leader:" + strings.Repeat("n", 5000), mostText / 5031},
	} {
		c := newCapacity(compile(tt.list), nil)
		n, text := 0, 0
		p := &sources.Primitive{Ref: sources.Ref{Name: tt.name}, Owners: []sources.Owner{{ID: "host-1:4711", Label: "#33f0549b"}}}
		for ; c.fits(p.Name); n++ {
			text = c.replace(&facts{}, p)
		}
		if n < tt.want || n > tt.want+1 || !c.full {
			t.Errorf("%d keys with names of %d bytes find room where %v is named, want %d", n, len(tt.name), tt.list, tt.want)
		}
		c.remove(&key{name: p.Name, shown: facts{text: text}})
		if !c.fits(p.Name) {
			t.Error("a key that is forgotten makes no room")
		}
	}
}

// TestWhatFindsNoRoomIsWarnedAbout has values grow until there is no room for them.
func TestWhatFindsNoRoomIsWarnedAbout(t *testing.T) {
	t.Parallel()
	c := newCapacity(compile(nil), nil)
	grown := func(size int) *sources.Primitive {
		return &sources.Primitive{Owners: []sources.Owner{{Data: sources.Blob{Head: strings.Repeat("x", size), Len: size}}}}
	}
	c.text = mostText - 1024
	small, big := grown(10), grown(4096)
	text := c.replace(&facts{}, small)
	if len(c.warnings(7)) > 0 || small.Owners[0].Data.Head == "" {
		t.Errorf("%+v", c)
	}
	c.replace(&facts{all: 1, text: text}, big)
	if o := big.Owners[0]; o.Data.Head != "" || o.Data.Len != 4096 || !c.full || c.text > mostText {
		t.Errorf("%+v, %+v", o.Data, c)
	}
	if c.fits(strings.Repeat("n", longestName+1)) || !c.long || c.fits(strings.Repeat("n", longestName)) {
		t.Errorf("%+v", c)
	}
	if list := c.warnings(7); len(list) != 2 || !strings.Contains(list[0], "7 are shown") {
		t.Errorf("%q", list)
	}
}
