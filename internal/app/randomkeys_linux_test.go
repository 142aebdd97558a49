package app

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/redis/go-redis/v9"

	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

// escapeKey is esc as terminals send it that keep it apart from the beginning of a sequence.
const escapeKey = "\x1b[27u"

// redraw is ctrl+l: what the board drew for another size is not all on the test's screen.
const redraw = "\x0c"

// randomKeys are those of the menu and its boxes most often, and pastes. Without : and ?, which list
// commands that end the board.
var randomKeys = append(strings.Split("aaxxejjkyyrrnpct123456o/s!KzmuiOAlX*M []", ""),
	tab, tab, tab, backTab, enter, enter, enter, escapeKey, "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~", "\x7f", "\x15", "é", "界",
	"\x1b[200~y\r\x1b[201~", "\x1b[200~app:lock\n\x1b[201~", "\x1b[200~xapp:lock:stuck\r\n\r\n\x1b[201~", "\x1b[200~\x1b[A\ny\x1b[201~")

// TestRandomKeysOnATerminalSendTheServerNothing presses keys at random on an armed board with a stuck lock
// on screen. What the server was sent is the truth. COORDTOP_TEST_KEYS=1000000 presses a million, which
// takes some five minutes; the board is asked for 100,000 without a terminal in the tests of package ui.
func TestRandomKeysOnATerminalSendTheServerNothing(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "the keys come from outside")
	presses := 20_000
	if n, err := strconv.Atoi(os.Getenv("COORDTOP_TEST_KEYS")); err == nil {
		presses = n
	} else if testing.Short() {
		presses = 2_000
	}
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	const key, owner = "app:lock:stuck", "host-a:4411"
	w := writer(t, server.Addr())
	set(t, w, key, owner, 0)
	if err := w.ConfigResetStat(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 1))
	cmd := command(t, "--write", server.URL()+"?keys="+key)
	cmd.Dir = t.TempDir() // for what is exported
	s := inSight(t, cmd).await(key, owner, "WRITE")
	boxes := 0
	boxOpens := func() {
		boxes++
		size(t, s, 30, 100)
		filter := fmt.Sprintf("seen%d", boxes) // when it stands there, all keys before it were read
		s.keys(strings.Repeat(escapeKey, 6), "2", redraw, "/", filter).await(filter).keys(escapeKey, escapeKey).gone(filter)
		s.await("q quit", key, "WRITE").keys("ax").await("Force-release", owner, "(needs the name)")
	}
	for n := 0; n < presses; n += 500 {
		size(t, s, 1+chance.IntN(30), 1+chance.IntN(100))
		var keys strings.Builder
		for range 500 {
			if chance.IntN(40) == 0 {
				keys.WriteString(strings.Repeat(escapeKey, 4) + "2ax")
			}
			keys.WriteString(randomKeys[chance.IntN(len(randomKeys))])
		}
		if s.keys(keys.String()); n%5000 == 0 {
			boxOpens()
		}
	}
	boxOpens()
	if sent := writes(t, w); len(sent) > 0 || w.Get(t.Context(), key).Val() != owner {
		t.Errorf("after %d keys the server was sent %v", presses, sent)
	}
	s.confirm(key).await("released by force").keys("q")
	if code := ends(t, s.cmd); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if sent := writes(t, w); len(sent) == 0 || w.Exists(t.Context(), key).Val() != 0 {
		t.Errorf("with the name it was sent %v", sent)
	}
}

func size(t *testing.T, s *sight, rows, cols int) {
	t.Helper()
	if err := pty.Setsize(s.file, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		t.Fatal(err)
	}
}

// writes are the commands that change something, or run a script, among those that a server was sent.
func writes(t *testing.T, c *redis.Client) (sent []string) {
	t.Helper()
	known, err := c.Command(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	for name, times := range commands(t, c) {
		info := known[strings.Split(name, "|")[0]]
		if info == nil || slices.Contains(info.Flags, "write") || strings.HasPrefix(name, "eval") || strings.HasPrefix(name, "fcall") {
			sent = append(sent, fmt.Sprintf("%s %d times", name, times))
		}
	}
	return sent
}
