package pgsource

import (
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

func TestSourceKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{}) // the cases run in turn, and each leaves it as it was
	sourcetest.Run(t, func(t *testing.T) sourcetest.Fixture {
		r := &rig{t: t, server: server}
		r.session("owner").do("select pg_advisory_lock(4242)")
		next := r.session("next")
		proxy := localserver.ProxyForTest(t, r.server.Addr())
		source, err := New(Options{
			Name: "src", URL: "postgres://postgres@" + proxy.Addr() + "/postgres?sslmode=disable",
			Selections: []Selection{{Pattern: "4242", Kind: sources.KindElection}, {Pattern: "17:-4"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return sourcetest.Fixture{
			Source: source,
			Change: func() { next.do("select pg_advisory_lock(17, -4)") },
			Freeze: func() func() {
				noError(t, r.server.Freeze())
				return func() {
					if err := r.server.Thaw(); err != nil {
						t.Error(err)
					}
				}
			},
			Drop: proxy.Reset,
		}
	})
}
