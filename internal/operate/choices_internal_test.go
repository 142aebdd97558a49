package operate

import (
	"testing"

	"coordtop/sources"
)

func TestAnUnknownOwnerIsNotNobody(t *testing.T) {
	t.Parallel()
	for how, want := range map[sources.Known]string{sources.Unknown: "not ours", sources.Told: "not ours: nobody owns it"} {
		row := &sources.Row{Primitive: &sources.Primitive{OwnersHow: how, Taken: 5}}
		if got := notOurs(row, ""); got != want {
			t.Errorf("owners %v: %q, want %q", how, got, want)
		}
	}
}
