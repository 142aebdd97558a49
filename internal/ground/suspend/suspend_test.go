package suspend_test

import (
	"testing"

	"coordtop/internal/ground/suspend"
)

func TestTheClockOfSuspendsStandsStillWhileTheMachineIsAwake(t *testing.T) {
	t.Parallel()
	first := suspend.Slept()
	for range 1000 {
		if d := suspend.Slept() - first; d > suspend.Noise || d < -suspend.Noise {
			t.Fatalf("it moved by %v", d)
		}
	}
}
