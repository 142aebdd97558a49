package sources_test

import (
	"regexp"
	"testing"

	"coordtop/sources"
	"coordtop/sources/sourcetest/filled"
)

// TestEveryFieldButTheLeaseMakesAnotherLook fails when a type grows by a field that sameLook does not know.
func TestEveryFieldButTheLeaseMakesAnotherLook(t *testing.T) {
	t.Parallel()
	moves := regexp.MustCompile(`^\.(At|Queue\.At|Owners\[0\]\.(Expires|Renewed|Rhythm)\..*)$`)
	full, all := filled.Value[sources.Primitive](func(int) bool { return true })
	for i, name := range all {
		other, _ := filled.Value[sources.Primitive](func(leaf int) bool { return leaf != i })
		if same := sources.SameLook(full, other); same != moves.MatchString(name) {
			t.Errorf("without %s it is the same: %v", name, same)
		}
	}
	for _, change := range []func(*sources.Primitive){
		func(p *sources.Primitive) { p.Owners[0].Guard = "g" },
		func(p *sources.Primitive) { p.Queue.Waiters[0].Guard = "g" },
		func(p *sources.Primitive) { p.Candidates[0].Guard = "g" },
	} { // the fields that no recording has
		other, _ := filled.Value[sources.Primitive](func(int) bool { return true })
		if change(other); sources.SameLook(full, other) {
			t.Error("with another guard it is the same")
		}
	}
}
