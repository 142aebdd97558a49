package coordtest

import (
	"fmt"
	"testing"

	"coordtop/coord"
)

func TestHideLeavesExactlyTheOtherAbilities(t *testing.T) {
	t.Parallel()
	all := &renewingSession{}
	for _, has := range []Ability{
		0, CanDescribe, CanDescribe | CanQueue, CanDescribe | CanWatch, CanDescribe | CanWatch | CanQueue,
		CanRenew | CanDescribe | CanWatch, CanRenew | CanQueue | CanProvision, CanRenew | CanDescribe | CanQueue | CanProvision,
		CanRenew | CanDescribe | CanWatch | CanQueue | CanProvision,
	} {
		t.Run(fmt.Sprintf("session %05b", has), func(t *testing.T) {
			t.Parallel()
			s := joinSession(partSession{DriverSession: all}, has)
			if got := SessionAbilities(s); got != has {
				t.Errorf("wrapped with the abilities %05b, want %05b", got, has)
			}
		})
	}
	for _, has := range []Ability{0, CanRenew, CanPublish, CanRenew | CanPublish} {
		t.Run(fmt.Sprintf("grant %06b", has), func(t *testing.T) {
			t.Parallel()
			g := joinGrant(&renewingGrant{}, has)
			if got := GrantAbilities(g); got != has {
				t.Errorf("wrapped with the abilities %06b, want %06b", got, has)
			}
		})
	}
}

func TestHideRefusesASetOfAbilitiesThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("it was wrapped with other abilities than asked for")
		}
	}()
	joinSession(partSession{DriverSession: &renewingSession{}}, CanProvision)
}

func TestHideKeepsTheRest(t *testing.T) {
	t.Parallel()
	for _, shape := range []Shape{SessionRenews, GrantRenews} {
		for _, hidden := range []Ability{0, CanWatch, CanDescribe | CanWatch, CanQueue | CanProvision | CanPublish} {
			t.Run(fmt.Sprintf("%v without %06b", shape, hidden), func(t *testing.T) {
				t.Parallel()
				d := NewMem(shape, MemOptions{}).NewDriver(nil)
				plainSession, plainGrant := abilities(t, d)
				session, grant := abilities(t, Hide(d, hidden))
				if want := plainSession &^ hidden; session != want {
					t.Errorf("the session has %06b, want %06b", session, want)
				}
				if want := plainGrant &^ hidden; grant != want {
					t.Errorf("the grant has %06b, want %06b", grant, want)
				}
			})
		}
	}
}

func abilities(t *testing.T, d coord.Driver) (session, grant Ability) {
	t.Helper()
	s, err := d.Open(t.Context(), coord.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Abandon()
	g, ok, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: "x"})
	if err != nil || !ok {
		t.Fatalf("acquiring: ok %v, %v", ok, err)
	}
	if err := g.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	return SessionAbilities(s), GrantAbilities(g)
}
