package localserver

import (
	"os/exec"
	"testing"

	"coordtop/internal/ground/spawn"
)

func TestAPanicOfWhoWaitsForAServerIsToldAndStopEnds(t *testing.T) {
	t.Parallel()
	told := make(chan *spawn.Panic, 1)
	ctx := spawn.With(t.Context(), func(p *spawn.Panic) { told <- p })
	cmd := exec.Command("cat") // ends with its input, and does nothing
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := watchProcess(ctx, cmd, func() { panic("boom") })
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got.Value != "boom" {
		t.Errorf("told %v", got.Value)
	}
	p.kill() // returns although who waits has panicked
}
