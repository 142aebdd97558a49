package app

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/emulator/liartest"
	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

// mostALiarCosts is how much more memory the board may take for a source that lies.
const mostALiarCosts = 100 << 20

// TestALiarBesideALeaseCostsItsOwnSource leads on one Redis under a memory limit of 1 GB, and
// has another one lie from some moment on. The lease goes on being renewed, the liar is
// named, and the terminal is given back.
func TestALiarBesideALeaseCostsItsOwnSource(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it measures memory, of which the race detector takes as much as it likes")
	for what, lie := range map[string]liartest.Answer{
		"a map":              liartest.Always("%2147483647\r\n"),
		"an array":           liartest.Always("*2147483647\r\n"),
		"a text":             liartest.Always("$2147483647\r\n"),
		"an endless line":    liartest.Ever("-ERR "),
		"endless nesting":    liartest.Ever("*1\r\n"),
		"attributes":         liartest.Ever("|0\r\n"),
		"an endless array":   liartest.Ever("*1000\r\n"),
		"endless names":      names(1024),
		"names of a pattern": names(4096),
		"endless pushes":     liartest.Ever(">2\r\n$10\r\ninvalidate\r\n*3\r\n"),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var lying atomic.Bool
			liar := liartest.RedisForTest(t, func(w io.Writer, command []string) error {
				if lying.Load() {
					return lie(w, command)
				}
				return liartest.Honest(w, command)
			})
			selected := "?mutex=lock:*"
			if what == "endless names" {
				selected = "" // of a pattern that somebody names more are kept
			}
			l := leadWith(t, "", "redis://"+liar.Addr()+"/0"+selected)
			limit := unix.Rlimit{Cur: 1 << 30, Max: 1 << 30}
			if err := unix.Prlimit(l.cmd.Process.Pid, unix.RLIMIT_DATA, &limit, nil); err != nil {
				t.Fatal(err)
			}
			l.keys("o").await(liar.Addr())
			before := localserver.PeakMemory(t, l.cmd.Process.Pid)
			lying.Store(true)
			if strings.Contains(what, "names") {
				l.keys("r")
				for rows := 10_000; what == "names of a pattern" && rows < 100_000; rows += 10_000 { // each may take as long as any other wait
					l.until(fmt.Sprintf("shows %d rows", rows), func(screen string) bool { return mostRows(screen) >= rows })
				}
				l.await("there are more keys than one")
			} else {
				l.await(liar.Addr()+" sent ", "next try in")
			}
			renewed(l)
			most := mostALiarCosts
			switch what {
			case "endless names":
				most += most / 5 // the rows of the board are its own
			case "names of a pattern":
				most = mostNamesCost
			}
			if grown := localserver.PeakMemory(t, l.cmd.Process.Pid) - before; grown > most {
				t.Errorf("the liar cost %d MB", grown>>20)
			} else {
				t.Logf("the liar cost %d MB, the peak is %d MB", grown>>20, (before+grown)>>20)
			}
			l.keys("q").keys("q").await("We hold 1 lease").keys("r")
			l.ended(exitOK)
		})
	}
}

// TestAFloodBesideALeaseCostsItsOwnSource is the same with a server of HTTP/2 that writes
// pings without end, which is what a YDB speaks. It lies from the start.
func TestAFloodBesideALeaseCostsItsOwnSource(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it measures memory, of which the race detector takes as much as it likes")
	liar := liartest.FramesForTest(t, liartest.Frame(6, 0, 0, make([]byte, 8)))
	l := leadWith(t, "", "grpc://"+liar.Addr()+"/local?node=/local/x&mutex=a")
	l.keys("o").await(liar.Addr()+" sent ", "next try in")
	renewed(l)
	if all := localserver.PeakMemory(t, l.cmd.Process.Pid); all > mostALiarCosts {
		t.Errorf("the peak is %d MB", all>>20)
	}
	l.keys("q").keys("q").await("We hold 1 lease").keys("r")
	l.ended(exitOK)
}

// mostRows is the largest number of primitives that a screen tells of a source.
func mostRows(screen string) (most int) {
	for _, told := range primitives.FindAllStringSubmatch(screen, -1) {
		if n, err := strconv.Atoi(strings.ReplaceAll(told[1], ",", "")); err == nil {
			most = max(most, n)
		}
	}
	return most
}

var primitives = regexp.MustCompile(`([0-9,]+) primitive`)

// mostNamesCost is what 100,000 keys may cost, which are kept of a pattern that somebody named, and
// recorded: the first record of all of them at once takes some 180 MB of it, and what is known of grants and looks some 80.
const mostNamesCost = 850 << 20

// names has keys without end, each with a value of size bytes: 1024 may be a guessed lock's,
// 4096 is as much as is read. It claims to use next to no CPU, so that no search rests for it.
func names(size int) liartest.Answer {
	value, made, used := liartest.Text(strings.Repeat("v", size)), new(atomic.Int64), new(atomic.Int64)
	lie := liartest.About("scan", func(w io.Writer, _ []string) error {
		var page strings.Builder
		page.WriteString("*2\r\n$1\r\n7\r\n*1000\r\n")
		for range 1000 {
			page.WriteString(liartest.Text("lock:" + strconv.FormatInt(made.Add(1), 10)))
		}
		return liartest.Say(w, page.String())
	}).But("pttl", liartest.Always(":-1\r\n")).But("strlen", liartest.Always(":"+strconv.Itoa(size)+"\r\n")).But("getrange", liartest.Always(value))
	return func(w io.Writer, command []string) error {
		if len(command) == 2 && strings.EqualFold(command[0], "info") && strings.EqualFold(command[1], "cpu") {
			return liartest.Say(w, liartest.Text(fmt.Sprintf("used_cpu_sys:0.0\r\nused_cpu_user:%.3f\r\n", float64(used.Add(1))/1000)))
		}
		return lie(w, command)
	}
}

// renewed waits until the lease was renewed twice.
func renewed(l leading) {
	l.t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for range 2 {
		for last, left := l.left(), l.left(); left <= last; last, left = left, l.left() {
			if left <= 0 {
				l.t.Fatal("the lease is gone")
			}
			<-again.C
		}
	}
}
