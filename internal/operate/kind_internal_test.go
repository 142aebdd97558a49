package operate

import (
	"testing"

	"coordtop/coord"
	"coordtop/sources"
)

func TestADriverGetsTheKindAndModeOfTheRow(t *testing.T) {
	t.Parallel()
	for k := sources.KindElection; k <= sources.KindSemaphore; k++ {
		if got := coord.KindNamed(k.String()); got.String() != k.String() || sources.KindNamed(got.String()) != k {
			t.Errorf("%v is %v for a driver", k, got)
		}
	}
	if coord.KindNamed(sources.KindUnknown.String()) != coord.KindNone || sources.KindNamed(coord.KindNone.String()) != sources.KindUnknown {
		t.Error("a kind that is not known is one for a driver")
	}
	for m, want := range map[sources.Mode]coord.Mode{sources.Exclusive: coord.Exclusive, sources.Shared: coord.Shared} {
		if got := coord.ModeNamed(m.String()); got != want {
			t.Errorf("%v is %v for a driver", m, got)
		}
	}
}
