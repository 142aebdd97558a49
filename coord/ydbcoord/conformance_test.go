package ydbcoord_test

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
)

// serverEnv names a real server by URL, with the path of a coordination node as node=,
// which the tests may create.
const serverEnv = "COORDTOP_TEST_YDB"

func TestConformanceInVirtualTime(t *testing.T) {
	t.Parallel()
	coordtest.RunIn(t, synctest.Test, func(t testing.TB) coordtest.Harness {
		b := start(t, ydbtest.Options{InMemory: true})
		r := &record{}
		h := b.harness(func(t testing.TB) coord.Driver {
			conn := b.dial(t, 0, r.option())
			return withConn{b.on(t, conn, ydbcoord.Options{}), conn}
		})
		h.Endings = func(testing.TB) func() []string {
			before := len(r.requests())
			return func() []string {
				var names []string
				for _, m := range r.requests()[before:] {
					if m.GetReleaseSemaphore() != nil {
						names = append(names, m.GetReleaseSemaphore().GetName())
					}
				}
				return names
			}
		}
		h.FreezesQueues = true
		h.Freezer = func(t testing.TB) (coord.Driver, func()) {
			return h.NewDriver(t), func() { b.BlackHole(0, true) }
		}
		h.Troubles = func(t testing.TB) (func(testing.TB) coord.Driver, []coordtest.Trouble) {
			restart := func() {
				if err := b.RestartTablet(node); err != nil {
					t.Error(err)
				}
			}
			return h.NewDriver, []coordtest.Trouble{{Name: "the tablet restarts", Begin: restart, End: func() {}, Silent: true}}
		}
		return h
	})
}

func TestConformanceOverTCP(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes 15 s: a short run has the same in virtual time")
	}
	b := start(t, ydbtest.Options{})
	coordtest.Run(t, func(t testing.TB) coordtest.Harness {
		h := b.harness(func(t testing.TB) coord.Driver { return overSDK(t, b.URL(0)+"?node="+node) })
		h.FreezesQueues = true
		h.Freezer = func(t testing.TB) (coord.Driver, func()) {
			own := start(t, ydbtest.Options{FrontEnds: 1})
			d := overSDK(t, own.URL(0)+"?node="+node)
			t.Cleanup(func() {
				if err := d.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			return d, func() { own.BlackHole(0, true) }
		}
		return h
	})
}

func TestConformanceOnARealServer(t *testing.T) {
	t.Parallel()
	url := os.Getenv(serverEnv)
	if url == "" {
		t.Skip(serverEnv + " names no server; the emulator stands for one in the other tests")
	}
	o, err := ydbcoord.ParseURL(url)
	noError(t, err)
	c, err := ydbcoord.NewClient(o)
	noError(t, err)
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	noError(t, c.Nodes().Create(t.Context(), o.Node, nil))
	coordtest.Run(t, func(t testing.TB) coordtest.Harness {
		return coordtest.Harness{
			NewDriver: func(t testing.TB) coord.Driver {
				d, err := ydbcoord.New(url, ydbcoord.Options{CreateElections: true})
				noError(t, err)
				return d
			},
			TTL: time.Second,
		}
	})
}

// overSDK makes a driver whose connection is the SDK's. The suite closes it.
func overSDK(t testing.TB, url string) *ydbcoord.Driver {
	t.Helper()
	d, err := ydbcoord.New(url, ydbcoord.Options{})
	noError(t, err)
	return d
}

// harness is the suite's way to the emulator.
func (b *bench) harness(newDriver func(testing.TB) coord.Driver) coordtest.Harness {
	return coordtest.Harness{
		NewDriver: newDriver,
		TTL:       time.Second,
		Name: func(t testing.TB, kind coord.Kind) string {
			name := "coordtest-" + strings.ToLower(rand.Text()[:12])
			if kind == coord.KindElection {
				noError(t, b.CreateSemaphore(node, name, 1, nil))
			}
			return name
		},
		Expire: func(t testing.TB, _ coord.Kind, name string) {
			for _, l := range b.Owners(node, name) {
				noError(t, b.ExpireSession(node, l.SessionID))
			}
		},
		Owners: func(_ testing.TB, _ coord.Kind, name string) []string {
			var ids []string
			for _, l := range b.Owners(node, name) {
				ids = append(ids, ydbcoord.OwnerID(l.SessionID, ""))
			}
			return ids
		},
	}
}

// withConn is a driver that closes the connection it was given.
type withConn struct {
	*ydbcoord.Driver
	conn io.Closer
}

func (d withConn) Close(ctx context.Context) error {
	err := d.Driver.Close(ctx)
	_ = d.conn.Close() // a second time it reports that it is closed
	return err
}
