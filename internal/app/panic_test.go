package app

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coordtop/internal/config"
	"coordtop/sources"
	"coordtop/ui"
)

func TestAPanicBesideTheBoardRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := newProgram(Environment{Stderr: w.stderr, Lookup: lookup(map[string]string{"HOME": w.home})})
	keys, hand := io.Pipe()
	defer hand.Close()
	c := config.Config{Sources: []config.Source{{Name: "a", Type: "postgres"}}}
	under, whole := p.guarded(t.Context())
	err := whole(p.observe(under, c, func(ctx context.Context, hub *sources.Hub, beside *watched) error {
		feed := newFeed(hub, nil)
		defer feed.Close()
		beside.run(ctx, func() error {
			w.stdout.await(t, func(s string) bool { return strings.Contains(s, "\x1b[?1049h") })
			panic("boom")
		})
		return ui.Run(ctx, ui.Options{Feed: feed, Input: keys, Output: w.stdout, Environ: []string{"TERM=xterm"}, Width: 80, Height: 24})
	}))
	p.log.Close()
	if err == nil || strings.Count(err.Error(), "boom") != 1 {
		t.Errorf("not said once: %v", err)
	}
	if !restored(w.stdout.String()) {
		t.Errorf("the terminal is not given back: %q", w.stdout)
	}
	if strings.Contains(w.stdout.String(), "goroutine ") {
		t.Error("the stack is on the screen")
	}
	text, err := os.ReadFile(filepath.Join(w.home, ".local/state/coordtop/coordtop.log"))
	if err != nil || !strings.Contains(string(text), "panic_test.go") {
		t.Errorf("the log has no stack: %q, %v", text, err)
	}
}
