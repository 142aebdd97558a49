package foreground_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coordtop/internal/foreground"
)

func TestOnlyTheEndOfWhatHasAnotherEndIsASign(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	defer read.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, []byte("proclaim x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	closed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for name, c := range map[string]struct {
		in   io.Reader
		want bool
	}{
		"a pipe":         {read, true},
		"a socket":       {socket, true},
		"another reader": {strings.NewReader(""), true},
		"/dev/null":      {null, false},
		"a file":         {file, false},
		"a closed file":  {closed, false},
	} {
		if got := foreground.Ends(c.in); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
