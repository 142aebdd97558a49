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
	s := ydbForTest(t, ydbtest.Options{})
	h := holds(t, "campaign", "--write", "--yes", s.URL(0)+"?node="+ydbNode+"&election=primary")
	h.line(1, "acquired")
	if err := h.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h.types("resign")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Await(ctx, func() bool { return len(s.Owners(ydbNode, "primary")) == 0 }); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	h.line(2, "lost")
	h.ends(exitLost)
}
