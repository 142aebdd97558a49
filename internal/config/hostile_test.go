package config_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/app/backends"
	. "coordtop/internal/config"
	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

const good = "sources:\n  - name: a\n    url: redis://h\n"

func TestAConfigOfAnotherSystemIsRead(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a mark of UTF-8": UTF8Mark + good, "CRLF": strings.ReplaceAll(good, "\n", "\r\n"), "CR": strings.ReplaceAll(good, "\n", "\r"),
		"a mark and CRLF": UTF8Mark + strings.ReplaceAll(good, "\n", "\r\n"),
	} {
		c, err := parse(t, []byte(text), "/c.yaml", noEnv)
		if err != nil || len(c.Sources) != 1 || c.Sources[0].Name != "a" {
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
	}
	for text, want := range map[string]string{
		"title: a\nsources: \x00": "/c.yaml:2:1: a zero byte", "title: a\n\ntitle: \xff\xfe\n": "/c.yaml:3:1: not UTF-8",
		"\xff\xfet\x00i\x00t\x00": "a zero byte: a config is text in UTF-8",
	} {
		if _, err := parse(t, []byte(text), "/c.yaml", noEnv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestAConfigCannotTakeTheMemory measures each text in a process of its own.
func TestAConfigCannotTakeTheMemory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it computes for 10 s, and measures memory, of which the race detector takes as much as it likes")
	}
	raced.Alone(t, "it computes for 10 s, and measures memory, of which the race detector takes as much as it likes")
	const variable = "COORDTOP_TEST_BOMB"
	if path := os.Getenv(variable); path != "" {
		c, err := backends.Config().Load(path, noEnv)
		runtime.KeepAlive(c)
		text := fmt.Sprint(err)
		fmt.Printf("%d bytes of error: %.200q\n", len(text), text)
		if len(text) > 1<<20 {
			t.Errorf("the error has %d bytes", len(text))
		}
		if peak := localserver.PeakMemory(t, os.Getpid()); peak > 100<<20 {
			t.Errorf("it took %d MB", peak>>20)
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "c.yaml")
	for name, text := range map[string]string{
		"a long key": strings.Repeat("k", MaxFile) + ": v", "a long value": "title: " + strings.Repeat("v", MaxFile),
		"a long url": "sources: [{url: 'redis://" + strings.Repeat("h", MaxFile) + "'}]",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, self, "-test.run=^TestAConfigCannotTakeTheMemory$", "-test.count=1")
		cmd.Env = append(os.Environ(), variable+"="+path)
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			t.Errorf("%s: %v: %.300s", name, err, out)
		} else if testing.Verbose() {
			t.Logf("%5d ms: %s: %.150s", cmd.ProcessState.UserTime().Milliseconds(), name, out)
		}
	}
}

func TestAFileThatNeverEndsIsNoSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge")
	if err := errors.Join(os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 1<<40)); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		huge: "longer than 64 kB: it holds more than a secret", fifo: "a pipe that nobody writes to", "/dev/zero": "a device", "/dev/tty": "a device", dir: "is a folder",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		got, err := Secret{File: path}.Resolve(ctx, noEnv)
		cancel()
		if err == nil || got != "" || !strings.Contains(err.Error(), "reading a secret: password_file: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, %v, want %s", path, got, err, want)
		}
	}
}
