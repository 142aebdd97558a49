package screen

import (
	"testing"

	"coordtop/internal/diagnose"
	"coordtop/ui/keys"
)

func TestEachPlaceOfAStepHasItsDefaultKey(t *testing.T) {
	t.Parallel()
	for _, p := range []diagnose.Place{diagnose.AtRow, diagnose.AtActions, diagnose.AtOwner, diagnose.AtTimeline, diagnose.AtEvents, diagnose.AtSources} {
		if want := keys.Bindings().KeyOf(placeIntents[p]); string(p) != want || want == "" {
			t.Errorf("diagnose says %q, the board %q", p, want)
		}
	}
}
