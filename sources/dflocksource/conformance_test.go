package dflocksource

import (
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/sources/sourcetest"
)

func TestSourceKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	for name, servers := range map[string]int{"one server": 1, "two servers": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sourcetest.Run(t, sourcetest.Harness{New: func(t *testing.T) sourcetest.Fixture {
				r := serve(t, dflocktest.Options{})
				all := []*dflocktest.Server{r.Server}
				for range servers - 1 {
					all = append(all, r.another(dflocktest.Options{}))
				}
				program := r.program()
				nonce := program.lock("leader", 5*time.Minute)
				return sourcetest.Fixture{
					Source: r.source(Options{}),
					Change: func() {
						program.release("leader", nonce)
						r.program().lock("leader", 5*time.Minute)
					},
					Freeze: func() func() {
						for _, s := range all {
							s.Hang(true)
						}
						return func() {
							for _, s := range all {
								s.Hang(false)
							}
						}
					},
					Drop: func() {
						for _, s := range all {
							s.Cut()
						}
					},
				}
			}})
		})
	}
}
