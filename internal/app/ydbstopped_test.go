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
	var stopped []*kept // each waits for as long as the other
	var servers []*ydbtest.Server
	for _, end := range []func(h *kept){
		func(h *kept) { h.types("resign") },
		func(h *kept) { h.signals(syscall.SIGTERM) },
	} {
		s := ydbForTest(t, ydbtest.Options{})
		h := holds(t, "campaign", "--write", "--yes", s.URL(0)+"?node="+ydbNode+"&election=primary")
		h.line(1, "acquired")
		h.stops() // before the end comes: the kernel delivers a later signal first
		end(h)
		stopped, servers = append(stopped, h), append(servers, s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i, h := range stopped {
		if err := servers[i].Await(ctx, func() bool { return len(servers[i].Owners(ydbNode, "primary")) == 0 }); err != nil {
			t.Fatal(err)
		}
		h.signals(syscall.SIGCONT)
		h.line(2, "lost")
		h.ends(exitLost)
	}
}
