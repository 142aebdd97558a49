package operate

import (
	"testing"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/internal/action"
	"coordtop/sources"
)

// TestAWaitKnowsItsOwnSessionAsTheOwner has a service that made us the owner, while its answer is not there yet.
func TestAWaitKnowsItsOwnSessionAsTheOwner(t *testing.T) {
	t.Parallel()
	s, err := coord.Open(t.Context(), coordtest.NewMem(coordtest.SessionRenews, coordtest.MemOptions{}).NewDriver(nil), coord.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Abandon()
	h := &holding{run: &run{}, waiting: true}
	owner := sources.Owner{ID: s.ID() + "@7", Session: s.ID()}
	if own := h.show(); own.Owns(&owner) {
		t.Error("without a session it owns it")
	}
	h.session = s
	for o, want := range map[*sources.Owner]bool{
		&owner:                                true,
		{ID: s.ID()}:                          true,
		{ID: "another@7", Session: "another"}: false,
		{}:                                    false,
	} {
		if own := h.show(); own.Owns(o) != want {
			t.Errorf("%+v owns %+v: %v, want %v", own, o, !want, want)
		}
	}
	if own := (&action.Holding{Fence: 4}); own.Owns(&sources.Owner{}) || !own.Owns(&sources.Owner{ID: "x", Fence: 4}) {
		t.Error("without an ID the fence decides")
	}
}
