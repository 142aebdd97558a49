package coordtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

func memHarness(shape coordtest.Shape, o coordtest.MemOptions) func(testing.TB) coordtest.Harness {
	return func(testing.TB) coordtest.Harness {
		m := coordtest.NewMem(shape, o)
		return coordtest.Harness{
			NewDriver: func(testing.TB) coord.Driver { return m.NewDriver(nil) },
			TTL:       time.Second,
			Expire:    func(_ testing.TB, kind coord.Kind, name string) { m.Expire(kind, name) },
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
