package coordtest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

func memHarness(shape coordtest.Shape, o coordtest.MemOptions) func(testing.TB) coordtest.Harness {
	return func(testing.TB) coordtest.Harness {
		m := coordtest.NewMem(shape, o)
		h := coordtest.Harness{
			NewDriver: func(testing.TB) coord.Driver { return m.NewDriver(nil) },
			TTL:       time.Second,
			Expire:    func(_ testing.TB, kind coord.Kind, name string) { m.Expire(kind, name) },
			Freezer: func(testing.TB) (coord.Driver, func()) {
				var link coordtest.Faults
				return coordtest.NewMem(shape, o).NewDriver(&link), func() {
					link.Script(func(coordtest.Verb) coordtest.Fault { return coordtest.Drop() })
				}
			},
			Owners: func(_ testing.TB, kind coord.Kind, name string) []string {
				var ids []string
				for _, o := range m.Owners(kind, name) {
					ids = append(ids, o.ID)
				}
				return ids
			},
			Endings: func(testing.TB) func() []string {
				before := len(m.Endings())
				return func() []string { return m.Endings()[before:] }
			},
		}
		if shape == coordtest.GrantRenews { // elsewhere the fault would have to come before the claim
			h.Troubles = func(testing.TB) (func(testing.TB) coord.Driver, []coordtest.Trouble) {
				var link coordtest.Faults
				own := coordtest.NewMem(shape, o)
				return func(testing.TB) coord.Driver { return own.NewDriver(&link) }, []coordtest.Trouble{
					{Name: "cut", Begin: func() { link.Set(coordtest.VerbAcquire, coordtest.Fail(nil), 0) }, End: func() { link.Clear() }},
					{Name: "lossy", Begin: func() { link.Set(coordtest.VerbAcquire, coordtest.LoseReply(), 0) }, End: func() { link.Clear() }},
				}
			}
		}
		return h
	}
}

func TestSuiteWhereTheSessionRenews(t *testing.T) {
	t.Parallel()
	coordtest.RunIn(t, synctest.Test, memHarness(coordtest.SessionRenews, coordtest.MemOptions{}))
}

func TestSuiteWhereEachGrantRenews(t *testing.T) {
	t.Parallel()
	coordtest.RunIn(t, synctest.Test, memHarness(coordtest.GrantRenews, coordtest.MemOptions{}))
}

// A driver without an optional interface is no broken driver.
func TestSuiteWithHiddenAbilities(t *testing.T) {
	t.Parallel()
	for _, shape := range []coordtest.Shape{coordtest.SessionRenews, coordtest.GrantRenews} {
		for _, hidden := range []coordtest.Ability{0, coordtest.CanWatch, coordtest.CanDescribe | coordtest.CanWatch | coordtest.CanPublish} {
			t.Run(fmt.Sprintf("%v without %06b", shape, hidden), func(t *testing.T) {
				t.Parallel()
				coordtest.RunIn(t, synctest.Test, func(t testing.TB) coordtest.Harness {
					h := memHarness(shape, coordtest.MemOptions{Push: true})(t)
					plain := h.NewDriver
					h.NewDriver = func(t testing.TB) coord.Driver {
						return coordtest.Hide(plain(t), hidden)
					}
					return h
				})
			})
		}
	}
}

func TestSuiteWithFewAbilities(t *testing.T) {
	t.Parallel()
	few := coordtest.MemOptions{MaxData: 16, Without: coord.Caps{Semaphore: true, Shared: true, Fence: true}}
	coordtest.RunIn(t, synctest.Test, memHarness(coordtest.GrantRenews, few))
}
