package app

import (
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"coordtop/internal/localserver"
)

// loopback tells a child where the servers of this machine are, as 6379=IPV4/IPV6,...; where it is not set
// the child looks for none.
const loopback = "COORDTOP_TEST_LOOPBACK"

func loopbackOf(text string) func(port string) [2]string {
	if text == "" {
		return nil
	}
	return func(port string) (two [2]string) {
		for entry := range strings.SplitSeq(text, ",") {
			if addresses, ok := strings.CutPrefix(entry, port+"="); ok {
				two[0], two[1], _ = strings.Cut(addresses, "/")
			}
		}
		return two
	}
}

// listens accepts nothing by itself.
func listens(t *testing.T, at string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// visited reports whether somebody has connected to l, who must have sent nothing.
func visited(t *testing.T, l net.Listener) bool {
	t.Helper()
	ours, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if first.RemoteAddr().String() == ours.LocalAddr().String() {
		return false
	}
	if err := first.SetDeadline(time.Now().Add(longEnough)); err != nil {
		t.Fatal(err)
	}
	if sent, err := io.ReadAll(first); len(sent) > 0 || err != nil {
		t.Errorf("%q was sent, %v", sent, err)
	}
	second, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if second.RemoteAddr().String() != ours.LocalAddr().String() {
		t.Error("somebody connected twice")
	}
	return true
}

const offered = "Or watch what listens on this machine. Nothing was sent to it yet, and watching only reads:"

func TestWhatListensOnThisMachineIsOffered(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, server.Addr()), "app:leader:billing", "host-07:4411", time.Hour)
	four, six, silent := listens(t, "127.0.0.1:0"), listens(t, "[::1]:0"), deaf(t)
	cmd := command(t)
	cmd.Env = append(cmd.Env, loopback+"=6379="+server.Addr()+"/"+server.Addr()+",5432="+four.Addr().String()+",2136="+localserver.RefusingForTest(t)+",6388="+silent+"/"+six.Addr().String())
	s := onScreen(t, cmd)
	text := s.await(t, func(out string) bool { return strings.Contains(out, "to end: ") })
	want := strings.Join([]string{
		offered, "  1) redis://" + server.Addr() + "/0", "  2) postgres://" + four.Addr().String() + "/postgres", "  3) dflockd://" + silent, "Type its number, or enter alone to end: ",
	}, "\r\n")
	if !strings.HasSuffix(text, want) || !strings.Contains(text, "nothing to watch") || !strings.Contains(text, "  coordtop demo\r\n") {
		t.Errorf("it says %q, want the usual lines and %q", text, want)
	}
	if _, err := s.file.WriteString("4\n0\nredis\n1\n"); err != nil {
		t.Fatal(err)
	}
	s.await(t, func(out string) bool { return strings.Contains(out, "app:leader:billing") })
	if n := strings.Count(s.String(), "Type its number"); n != 4 {
		t.Errorf("asked %d times, want once more after each of three wrong answers", n)
	}
	if _, err := s.file.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	code := ends(t, cmd)
	s.read.Wait()
	if code != exitOK || !restored(s.String()) {
		t.Errorf("exit code %d, %q", code, s)
	}
	if !visited(t, four) || !visited(t, six) {
		t.Error("not all addresses were tried")
	}
}

func TestWhoChoosesNothingEndsAsWithoutAnOffer(t *testing.T) {
	t.Parallel()
	l := listens(t, "127.0.0.1:0")
	for name, keys := range map[string]string{"enter": "\n", "q": "q\n", "a blank": " \n", "ctrl+c": "\x03", "ctrl+d": "\x04"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t)
			cmd.Env = append(cmd.Env, loopback+"=6379="+l.Addr().String())
			s := onScreen(t, cmd)
			s.await(t, func(out string) bool { return strings.Contains(out, "to end: ") })
			if _, err := s.file.WriteString(keys); err != nil {
				t.Fatal(err)
			}
			code := ends(t, cmd)
			s.read.Wait()
			if text := s.String(); code != exitUsage || strings.Count(text, "nothing to watch") != 1 || !strings.HasSuffix(text, "\n") || strings.Contains(text, "\x1b[?1049h") {
				t.Errorf("exit code %d, %q", code, text)
			}
		})
	}
}

func TestNothingIsOfferedWhereNobodyCanAnswerOrNothingListens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args    []string
		vars    string
		without func(*exec.Cmd)
		refuses bool
	}{
		"standard input is no terminal":  {without: func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader("1\n") }},
		"standard output is no terminal": {without: func(cmd *exec.Cmd) { cmd.Stdout = newStream() }},
		"standard error is no terminal":  {without: func(cmd *exec.Cmd) { cmd.Stderr = newStream() }},
		"nothing listens":                {refuses: true},
		"writing is to be armed":         {args: []string{"--write"}},
		"another command":                {args: []string{"get"}},
		"a variable that is wrong":       {vars: "REDIS_URL=redis://h:x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := listens(t, "127.0.0.1:0")
			at := l.Addr().String()
			if c.refuses {
				at = localserver.RefusingForTest(t)
			}
			cmd := command(t, c.args...)
			cmd.Env = append(cmd.Env, loopback+"=6379="+at, c.vars)
			master, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer master.Close()
			defer tty.Close()
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
			if c.without != nil {
				c.without(cmd)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if code := ends(t, cmd); code != exitUsage {
				t.Errorf("exit code %d", code)
			}
			if visited(t, l) {
				t.Error("it connected")
			}
		})
	}
}
