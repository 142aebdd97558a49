package operate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheAuditIsReadAsItIsNow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	j := NewAuditLog(path, Actor{})
	line := func(id string) string { return fmt.Sprintf("{\"id\":%q,\"stage\":\"only\",\"action\":\"note\"}\n", id) }
	put := func(text string, flags int) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flags, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	whole := line("a") + line("b")
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"no file", func() {}, ""},
		{"a new file", func() { put(whole, 0) }, "a b"},
		{"a line more, and another one is another", func() { put(strings.Replace(whole, `"a"`, `"x"`, 1), 0); put(line("c"), os.O_APPEND) }, "x b c"},
		{"half a line", func() { put(line("d")[:9], os.O_APPEND) }, "x b c"},
		{"the rest of it, but for the line break", func() { put(strings.TrimSpace(line("d")[9:]), os.O_APPEND) }, "x b c d"},
		{"that, and a line more", func() { put("\n"+line("e"), os.O_APPEND) }, "x b c d e"},
		{"a shorter file", func() { put(line("f"), os.O_TRUNC) }, "f"},
		{"a longer file in its place", func() { put(strings.Repeat(line("g"), 9)+line("h"), os.O_TRUNC) }, "g h"},
		{"it was put aside", func() { _ = os.Rename(path, path+".1"); put(line("i"), 0) }, "g h i"},
	} {
		step.do()
		entries, err := j.Entries()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, e := range entries {
			ids = append(ids, e.ID)
		}
		if got := strings.Join(ids, " "); got != step.want {
			t.Errorf("%s: read %q, want %q", step.name, got, step.want)
		}
	}
}

// TestARotationDuringTheReadingLosesNoAction makes .1 long, since a rotation must fall between the readings
// of the two files.
func TestARotationDuringTheReadingLosesNoAction(t *testing.T) {
	t.Parallel()
	line := func(id string) []byte {
		return fmt.Appendf(nil, "{\"id\":%q,\"stage\":\"only\",\"action\":\"note\"}\n", id)
	}
	oldest := bytes.Repeat(line("oldest"), 1000)
	for range 50 {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		if err := errors.Join(os.WriteFile(path+".1", oldest, 0o600), os.WriteFile(path, line("old"), 0o600)); err != nil {
			t.Fatal(err)
		}
		rotated := make(chan error)
		go func() { // received below
			err := os.Rename(path, path+".1")
			rotated <- errors.Join(err, os.WriteFile(path, line("new"), 0o600))
		}()
		j := NewAuditLog(path, Actor{})
		ids := map[string]bool{}
		read := func() {
			t.Helper()
			entries, err := j.Entries()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				ids[e.ID] = true
			}
		}
		read()
		if err := <-rotated; err != nil {
			t.Fatal(err)
		}
		read()
		if !ids["old"] || !ids["new"] {
			t.Fatalf("read the actions %v, want old and new among them", ids)
		}
	}
}
