package ui

import (
	"testing"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/uitest"
)

func TestABoxShowsAndAcceptsTheAliasOfItsLock(t *testing.T) {
	t.Parallel()
	for how, accepted := range map[sources.Known]bool{sources.Told: true, sources.Inferred: false} {
		p := uitest.Led("4242:17", "host-1", noon())
		p.Kind, p.Alias, p.AliasHow, p.Owners[0].Guard = sources.KindMutex, "ledger/compactor", how, "g"
		d, op := armed(p)
		op.Offer = []action.Choice{{Verb: action.Release}}
		op.Effect.NeedsName = "4242:17"
		d.act("a")
		d.shows(t, "4242:17  "+map[bool]string{false: d.Theme.About}[accepted]+"ledger/compactor in leases")
		d.act("x")
		d.shows(t, "lock      4242:17  "+map[bool]string{false: d.Theme.About}[accepted]+"ledger/compactor")
		d.typed("ledger/compactor")
		d.act("tab", "tab", "enter")
		if got := op.Begun(); (len(got) == 1) != accepted {
			t.Errorf("%v: begun %+v", how, got)
		}
	}
}
