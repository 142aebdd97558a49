package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// queued reports whether a process waits for a lock of a file.
func queued(t *testing.T, pid int) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "->") && strings.Contains(line, fmt.Sprintf(" %d ", pid)) {
			return true
		}
	}
	return false
}

// The owner changes between the guards and the sending: while the process waits for the lock
// of the audit, which another has.
func TestATryWhoseOwnerChangesBeforeAnythingIsSentHasItsExitCode(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	key := "app:lock:x"
	h := &kept{t: t, cmd: command(t, "acquire", "--write", "--yes", "--wait", "0", server.URL()+"?mutex="+key), out: newStream(), errs: newStream()}
	h.cmd.Stdout, h.cmd.Stderr = h.out, h.errs
	if _, err := h.cmd.StdinPipe(); err != nil { // it ends with its standard input
		t.Fatal(err)
	}
	folder := filepath.Join(h.home(), ".local", "state", "coordtop")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	audit, err := os.OpenFile(filepath.Join(folder, auditName), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	if err := syscall.Flock(int(audit.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it waits for the audit", func() bool { return queued(t, h.cmd.Process.Pid) })
	before := commands(t, c)
	set(t, c, key, "host-b:2", time.Minute)
	// Pings go on where the reading is late, and the check of rights sends GETRANGE: only a key that is read is asked
	// for PTTL, before its value and after it. A state is published within 100 ms after that, which takes fewer pings
	// than this.
	eventually(t, "it reads the key", func() bool { return commands(t, c)["pttl"] >= before["pttl"]+2 })
	read := commands(t, c)
	eventually(t, "its watch goes on", func() bool { return commands(t, c)["ping"] >= read["ping"]+40 })
	if err := syscall.Flock(int(audit.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	h.ends(6)
	if want := "nobody owned it when you decided, now host-b:2 does; nothing was sent"; !strings.Contains(h.errs.String(), want) || h.out.String() != "" {
		t.Errorf("it says %q %q, want %q", h.errs, h.out, want)
	}
	if got := strings.Join(h.audit(), ", "); got != "try before, try after failed" {
		t.Errorf("the audit has %q", got)
	}
}
