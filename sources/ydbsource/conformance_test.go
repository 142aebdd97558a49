package ydbsource

import (
	"testing"

	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources/sourcetest"
)

func TestSourceKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, func(t *testing.T) sourcetest.Fixture {
		r := serve(t, ydbtest.Options{}, "leader", "other")
		other := r.session(1, testLimit)
		r.lead(other, "leader", "a")
		return sourcetest.Fixture{
			Source: r.source(Options{Nodes: []string{app}, Selections: elections("leader", "other", "none")}),
			Change: func() { r.lead(other, "other", "a") },
			Freeze: func() func() {
				r.BlackHole(0, true)
				return func() { r.BlackHole(0, false) }
			},
			Drop: func() { r.CutConnections(0) },
		}
	})
}
