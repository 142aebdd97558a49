package screen

import (
	"testing"

	"coordtop/sources"
)

func TestAllPermitsAreDrawnAsMinusOne(t *testing.T) {
	t.Parallel()
	row := &sources.Row{Primitive: &sources.Primitive{Kind: sources.KindSemaphore, Limit: sources.NoLimit, LimitHow: sources.Told, Taken: sources.NoLimit}}
	if got := permitsText(row); got != "-1 taken" {
		t.Errorf("the row has %q", got)
	}
	if got := permits(row, sources.NoLimit); got != "-1" {
		t.Errorf("an owner has %q", got)
	}
}
