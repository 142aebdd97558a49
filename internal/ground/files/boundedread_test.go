package files_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/ground/files"
)

const most = 1 << 10

func write(t *testing.T, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	return path
}

func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileIsReadUpToItsLimit(t *testing.T) {
	t.Parallel()
	data, mode, err := files.Read(t.Context(), write(t, most), most)
	if err != nil || len(data) != most || mode.Perm() != 0o640 {
		t.Errorf("got %d bytes, mode %v, %v", len(data), mode, err)
	}
	for _, size := range []int64{most + 1, 1 << 40} {
		if data, _, err := files.Read(t.Context(), write(t, size), most); !errors.Is(err, files.ErrLong) || data != nil {
			t.Errorf("%d bytes: got %d, %v", size, len(data), err)
		}
	}
}

func TestAPipeIsReadUntilItsWriterClosesIt(t *testing.T) {
	t.Parallel()
	path := pipe(t)
	wrote := make(chan error, 1)
	go func() { // received below
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // waits for the reader
		if err == nil {
			_, err = f.WriteString("from a pipe")
			err = errors.Join(err, f.Close())
		}
		wrote <- err
	}()
	data, _, err := files.Read(t.Context(), path, most)
	if err != nil || string(data) != "from a pipe" {
		t.Errorf("got %q, %v", data, err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

func TestAPipeDoesNotHoldUpItsReader(t *testing.T) {
	t.Parallel()
	held := pipe(t)
	f, err := os.OpenFile(held, os.O_RDWR, 0) // a writer that never closes
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("a beginning"); err != nil {
		t.Fatal(err)
	}
	endless := pipe(t)
	g, err := os.OpenFile(endless, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Write(make([]byte, most+1)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe(t): "a pipe that nobody writes to", held: "a pipe that nobody writes to", endless: "longer than 1 kB"} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, _, err := files.Read(ctx, path, most)
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestWhatIsNoFileIsNotOpened(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/dev/zero": "a device", "/dev/tty": "a device", t.TempDir(): "is a folder"} {
		if _, _, err := files.Read(t.Context(), path, most); !errors.Is(err, files.ErrKind) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

func TestWhatALibraryReadsIsAFileWithinItsLimit(t *testing.T) {
	t.Parallel()
	if err := files.Check(t.Context(), write(t, most), most); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]error{write(t, most+1): files.ErrLong, pipe(t): files.ErrKind, "/dev/zero": files.ErrKind, t.TempDir() + "/none": fs.ErrNotExist} {
		if err := files.Check(t.Context(), path, most); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", path, err, want)
		}
	}
}

func TestAPipeIsKnown(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{pipe(t): true, write(t, 1): false, t.TempDir(): false, "/does/not/exist": false} {
		if got := files.IsPipe(t.Context(), path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestAPathAtWhichThereIsNothingIsNotRepeated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, 1)
	for _, path := range []string{
		dir + "/hunter2", dir + "/u:hunter2@h/0", dir + "/hunter2/hunter2", file + "/hunter2", "hunter2", "hunter2://hunter2", "/hunter2",
		dir + "/" + strings.Repeat("hunter2", 100), dir + "/hunter2\x00",
	} {
		_, _, err := files.Read(t.Context(), path, most)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v", path, err)
		}
		if !strings.Contains(path, "\x00") && !strings.Contains(path, file) && len(path) < 255 && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got %v", path, err)
		}
	}
	if _, _, err := files.Read(t.Context(), dir+"/a/b", most); err == nil || !strings.Contains(err.Error(), "below "+dir) {
		t.Errorf("the folder is not named: %v", err)
	}
}
