package sources

import (
	"regexp"
	"testing"
)

// TestEveryFieldButTheLeaseMakesAnotherLook fails when a type grows by a field that sameLook does not know.
func TestEveryFieldButTheLeaseMakesAnotherLook(t *testing.T) {
	t.Parallel()
	moves := regexp.MustCompile(`^\.(At|Queue\.At|Owners\[0\]\.(Expires|Renewed|Rhythm)\..*)$`)
	full, all := filled[Primitive](func(int) bool { return true })
	for i, name := range all.names {
		other, _ := filled[Primitive](func(leaf int) bool { return leaf != i })
		if same := sameLook(full, other); same != moves.MatchString(name) {
			t.Errorf("without %s it is the same: %v", name, same)
		}
	}
	for _, change := range []func(*Primitive){
		func(p *Primitive) { p.Owners[0].Guard = "g" },
		func(p *Primitive) { p.Queue.Waiters[0].Guard = "g" },
		func(p *Primitive) { p.Candidates[0].Guard = "g" },
	} { // the fields that no recording has
		other, _ := filled[Primitive](func(int) bool { return true })
		if change(other); sameLook(full, other) {
			t.Error("with another guard it is the same")
		}
	}
}
