package dflocksource

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/localserver"
	"coordtop/sources/sourcetest"
)

// serverEnv names a real server, as host:port, without a login. Of this package the suite alone runs
// on it: what the other tests do needs the emulator's back door, its faults and its switches.
const serverEnv = "COORDTOP_TEST_DFLOCKD"

func TestSourceKeepsEveryPromiseOnARealServer(t *testing.T) {
	t.Parallel()
	addr := strings.TrimPrefix(os.Getenv(serverEnv), "dflockd://")
	if addr == "" {
		t.Skip(serverEnv + " names no server; the emulator stands for one in the other tests")
	}
	sourcetest.Run(t, func(t *testing.T) sourcetest.Fixture {
		proxy, direct := localserver.ProxyForTest(t, addr), &rig{t: t, servers: []string{addr}}
		key := fmt.Sprintf("sourcetest/%d", time.Now().UnixNano())
		program := direct.program()
		nonce := program.lock(key, 5*time.Minute)
		watched := &rig{t: t, servers: []string{proxy.Addr()}}
		return sourcetest.Fixture{
			Source: watched.source(Options{Selections: []Selection{{Pattern: key}}}),
			Change: func() {
				program.release(key, nonce)
				program = direct.program()
				nonce = program.lock(key, 5*time.Minute)
			},
			Freeze: func() func() { proxy.BlackHole(); return proxy.Resume },
			Drop:   proxy.Reset,
		}
	})
}

func TestSourceKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	for name, servers := range map[string]int{"one server": 1, "two servers": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sourcetest.Run(t, func(t *testing.T) sourcetest.Fixture {
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
			})
		})
	}
}
