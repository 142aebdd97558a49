package app

import (
	"context"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/emulator/ydbtest"
)

func TestAProcessThatWasStoppedForTooLongSaysLostAndNotResigned(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes 16 s")
	}
	for name, end := range map[string]func(h *kept){
		"resign":  func(h *kept) { h.types("resign") },
		"SIGTERM": func(h *kept) { h.signals(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ydbForTest(t, ydbtest.Options{})
			h := holds(t, "campaign", "--write", "--yes", s.URL(0)+"?node="+ydbNode+"&election=primary")
			h.line(1, "acquired")
			h.signals(syscall.SIGSTOP)
			end(h)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Await(ctx, func() bool { return len(s.Owners(ydbNode, "primary")) == 0 }); err != nil {
				t.Fatal(err)
			}
			h.signals(syscall.SIGCONT)
			h.line(2, "lost")
			h.ends(exitLost)
		})
	}
}
