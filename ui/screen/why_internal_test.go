package screen

import (
	"testing"

	"coordtop/internal/diagnose"
	"coordtop/ui/keys"
)

func TestEachPlaceOfAStepHasItsDefaultKey(t *testing.T) {
	t.Parallel()
	for p := diagnose.AtRow; p <= diagnose.AtSources; p++ {
		if want := keys.Bindings().KeyOf(placeIntents[p]); p.Key() != want || want == "" {
			t.Errorf("place %d: diagnose says %q, the board %q", p, p.Key(), want)
		}
	}
}
