package pgsource

import (
	"strings"
	"testing"

	"coordtop/sources"
)

func TestAForcedEndIsThatOfTheOwnerItWasAnnouncedOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		announced eviction
		cause     sources.Cause
		fact      sources.Attr // of the owner of after
	}{
		"its owner":        {eviction{pid: 1, by: "ana"}, sources.CauseEvicted, sources.Attr{Key: OwnerEvicted, Value: "ended by force by ana at 12:00:01 UTC"}},
		"the owner now":    {eviction{pid: 2, by: "ana"}, sources.CauseSession, sources.Attr{}},
		"a wait":           {eviction{pid: 1, by: "ana", waiting: true}, sources.CauseSession, sources.Attr{Key: WaitEvicted, Value: "ended by force by ana at 12:00:01 UTC"}},
		"not said of whom": {eviction{by: "ana"}, sources.CauseSession, sources.Attr{Key: OwnerEvicted, Value: "ended by force by ana at 12:00:01 UTC"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupTable(t)
			next := b.at(2, b.now)
			b.look([]lockRow{owns(7, 1, exclusive), awaits(7, 2, exclusive, 0)}, b.at(1, b.now), next)
			c.announced.at = b.now
			b.evicted = map[evictedKey]eviction{{"5", "7"}: c.announced}
			n := b.look([]lockRow{owns(7, 2, exclusive)}, next)
			if len(n.changes) != 1 || len(n.changes[0].Ended) != 1 || n.changes[0].Ended[0].Cause != c.cause || n.changes[0].Ended[0].How != sources.Inferred {
				t.Fatalf("%+v", n)
			}
			var fact sources.Attr
			for _, a := range published(n)["7"].Owners[0].Attrs {
				if strings.HasPrefix(a.Value, "ended by force") {
					fact = a
				}
			}
			if fact != c.fact {
				t.Errorf("the owner has %+v, want %+v", fact, c.fact)
			}
		})
	}
}
