package dflocksource

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"coordtop/coord/dflockwire"
	"coordtop/internal/emulator/dflocktest"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is emulators of its own and the Witness of a source on them.
type rig struct {
	*dflocktest.Server // the first
	*sourcetest.Witness
	t       testing.TB
	servers []string
}

func serve(t testing.TB, o dflocktest.Options) *rig {
	t.Helper()
	r := &rig{t: t}
	r.Server = r.another(o)
	return r
}

// another starts one more server.
func (r *rig) another(o dflocktest.Options) *dflocktest.Server {
	r.t.Helper()
	s, err := dflocktest.Start(o)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			r.t.Error(err)
		}
	})
	r.servers = append(r.servers, s.Addr())
	return s
}

func (r *rig) source(o Options) *Source {
	r.t.Helper()
	o.Name, o.Client.Servers = "src", r.servers
	s, err := New(o)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// watch runs a source of all servers.
func (r *rig) watch(o Options) *rig {
	r.t.Helper()
	r.Witness = sourcetest.Watch(r.t, "dflockd", r.source(o))
	r.Witness.State("a listing of every server", func(s *sources.State) bool {
		for i := range s.Scopes {
			if !s.Scopes[i].Synced {
				return false
			}
		}
		return len(s.Scopes) == len(r.servers)
	})
	return r
}

// program is a client of a server, whose connection lives until the test ends.
type program struct {
	*dflockwire.Conn
	t testing.TB
}

func (r *rig) program() program { return r.at(r.servers[0]) }

func (r *rig) at(addr string) program {
	r.t.Helper()
	c, err := dflockwire.Dialer{Addr: addr}.Connect(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Close)
	return program{c, r.t}
}

// lock takes a lock and returns its nonce.
func (p program) lock(key string, lease time.Duration) string {
	p.t.Helper()
	return p.own(dflockwire.Key{Name: key}, lease)
}

// permit takes a permit of a semaphore.
func (p program) permit(key string, limit int) string {
	p.t.Helper()
	return p.own(dflockwire.Key{Name: key, Semaphore: true, Limit: limit}, time.Minute)
}

func (p program) own(key dflockwire.Key, lease time.Duration) string {
	p.t.Helper()
	g, ok, err := p.Acquire(p.t.Context(), key, 0, lease)
	if err != nil || !ok {
		p.t.Fatalf("taking %q: %v, %v", key.Name, ok, err)
	}
	return g.Nonce
}

func (p program) release(key, nonce string) {
	p.t.Helper()
	if err := p.Release(p.t.Context(), dflockwire.Key{Name: key}, nonce); err != nil {
		p.t.Fatal(err)
	}
}

// enqueue takes a place in the queue of a lock.
func (p program) enqueue(key string) {
	p.t.Helper()
	if _, ok, err := p.Enqueue(p.t.Context(), dflockwire.Key{Name: key}, time.Minute); err != nil || ok {
		p.t.Fatalf("queueing for %q: %v, %v", key, ok, err)
	}
}

// id is that of the connection that owns a lock.
func (r *rig) id(key string) uint64 {
	r.t.Helper()
	e, err := r.Entry(key)
	if err != nil || len(e.Owners) != 1 {
		r.t.Fatalf("entry %q: %+v, %v", key, e, err)
	}
	return e.Owners[0].Conn
}

// row waits for a row of the first server.
func (r *rig) row(name, what string, ok func(*sources.Row) bool) *sources.Row {
	r.t.Helper()
	return r.Row(r.servers[0], name, what, func(row *sources.Row, _ *sources.State) bool { return ok(row) })
}
