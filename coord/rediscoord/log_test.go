package rediscoord

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// It does not run in parallel with others of this package: the library's logger is one
// for the process.
func TestLibraryLogsToWhereItIsToldAndNewClientLeavesItSo(t *testing.T) {
	var out locked
	LogTo(slog.New(slog.NewTextHandler(&out, nil)))
	defer LogTo(slog.New(slog.DiscardHandler))
	o, err := ParseURL("redis://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// The library has always logged a refused connection.
	if err := c.Ping(t.Context()).Err(); err == nil {
		t.Fatal("somebody listens on port 1")
	}
	if text := out.String(); !strings.Contains(text, "redis library") {
		t.Errorf("nothing of the library came through: %q", text)
	}
}

// locked is a buffer for several goroutines.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
