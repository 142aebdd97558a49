package action_test

import (
	"strings"
	"testing"

	"coordtop/internal/action"
	"coordtop/sources"
)

func TestChangeOfAllPermitsIsSaidAsMinusOne(t *testing.T) {
	t.Parallel()
	owner := sources.Owner{ID: "a", Label: "host-a", Guard: "g", Permits: sources.NoLimit}
	row := &sources.Row{Primitive: &sources.Primitive{Kind: sources.KindSemaphore, Owners: []sources.Owner{owner}}}
	target := action.TargetOf(row, &owner)
	now := owner
	now.Permits = 2
	row = &sources.Row{Primitive: &sources.Primitive{Kind: sources.KindSemaphore, Owners: []sources.Owner{now}}}
	if got := target.Changed(row, action.PinGuard); !strings.Contains(got, "owned -1 of its permits when you decided, now 2") {
		t.Errorf("it says %q", got)
	}
}
