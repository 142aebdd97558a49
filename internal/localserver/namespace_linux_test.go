package localserver_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// mirror sends every line back, on the host's end of the link.
func mirror(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for in := bufio.NewScanner(c); in.Scan(); {
			if _, err := fmt.Fprintln(c, in.Text()); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

func TestNamespaceLinkCarriesUntilItIsCutAndAgainWhenMended(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := localserver.NamespaceForTest(t)
	conn, err := n.Dial(ctx, "tcp", mirror(t, n.Host()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if from, _, _ := net.SplitHostPort(conn.LocalAddr().String()); from == n.Host() || !strings.HasPrefix(from, "198.18.") {
		t.Errorf("connected from %s, want the other end of the link", from)
	}
	in := bufio.NewReader(conn)
	hear := func(patience time.Duration) (string, error) {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return "", err
		}
		return in.ReadString('\n')
	}
	say := func(text string) {
		t.Helper()
		if _, err := fmt.Fprintln(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	say("one")
	if answer, err := hear(patience); err != nil || answer != "one\n" {
		t.Fatalf("over the link came %q, %v", answer, err)
	}
	if err := n.Cut(ctx); err != nil {
		t.Fatal(err)
	}
	say("two")
	if answer, err := hear(300 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("over a cut link came %q, %v, want silence", answer, err)
	}
	if err := n.Mend(ctx); err != nil {
		t.Fatal(err)
	}
	say("three")
	for _, want := range []string{"two\n", "three\n"} {
		if answer, err := hear(patience); err != nil || answer != want {
			t.Fatalf("over the mended link came %q, %v, want %q", answer, err, want)
		}
	}
}

func TestNamespaceVanishesWhenClosed(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	n, err := localserver.NewNamespace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := func() bool {
		out, err := exec.Command("ip", "-o", "address").Output()
		return err != nil || strings.Contains(string(out), " "+n.Host()+"/")
	}
	if !there() {
		t.Fatal("our end of the link is not there")
	}
	n.Close()
	eventually(t, "the link is gone", func() bool { return !there() })
}

// noRight makes this test binary drop its rights and try to make a namespace.
const noRight = "COORDTOP_LOCALSERVER_NO_RIGHT"

func TestMissingRightForANamespaceIsSaidAsSuch(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	if os.Getenv(noRight) != "" {
		_, err := localserver.NewNamespace(t.Context())
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "CAP_SYS_ADMIN") {
			t.Errorf("without the right: %v, want fs.ErrPermission and what it takes", err)
		}
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$")
	cmd.Env, cmd.Dir = append(os.Environ(), noRight+"=1"), "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as somebody without rights: %v\n%s", err, out)
	}
}
