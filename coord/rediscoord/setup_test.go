package rediscoord_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/certs"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
)

// patience bounds every wait for an event; a good run never comes near it.
const patience = 2 * time.Minute

// bench is a server with a client of the test's own, which looks past the driver.
type bench struct {
	*testing.T
	server *localserver.Redis
	raw    redis.UniversalClient
	ctx    context.Context
}

func setup(t *testing.T, o localserver.RedisOptions) bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	server := localserver.RedisForTest(t, o)
	address := options(t, server.URL())
	if files := server.TLSFiles(); o.TLS {
		address.TLSFiles = &certs.Files{CA: files.CA, Cert: files.Cert, Key: files.Key}
	}
	raw, err := rediscoord.NewClient(t.Context(), address)
	noError(t, err)
	t.Cleanup(func() { raw.Close() })
	return bench{t, server, raw, ctx}
}

// open makes a session of a driver of its own; it is closed when the test ends.
func (b bench) open(c rediscoord.ClientOptions, o rediscoord.Options, ttl time.Duration) coord.DriverSession {
	b.Helper()
	d, err := rediscoord.New(c, o)
	noError(b, err)
	s, err := d.Open(b.ctx, coord.SessionOptions{TTL: ttl})
	noError(b, err)
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Close(ctx) // what is left may be broken on purpose
	})
	return s
}

// direct opens a session at the server itself.
func (b bench) direct(ttl time.Duration) coord.DriverSession {
	b.Helper()
	return b.open(options(b, b.server.URL()), brisk, ttl)
}

// through opens a session at the server behind p.
func (b bench) through(p *localserver.Proxy, o rediscoord.Options, ttl time.Duration) coord.DriverSession {
	b.Helper()
	return b.open(options(b, "redis://"+p.Addr()), o, ttl)
}

// deaf is through p with a library that waits for an answer for an hour: what returns did
// not wait for the network.
func (b bench) deaf(p *localserver.Proxy, ttl time.Duration) coord.DriverSession {
	b.Helper()
	o := options(b, "redis://"+p.Addr())
	o.ReadTimeout = time.Hour
	return b.open(o, brisk, ttl)
}

// answered waits for what a question returned.
func (b bench) answered(answer <-chan error) error {
	b.Helper()
	select {
	case err := <-answer:
		return err
	case <-b.ctx.Done():
		b.Fatal("it waits for the network")
		return nil
	}
}

// prime lets the server learn all scripts, so that each later call is one exchange.
func (b bench) prime(o rediscoord.Options) {
	b.Helper()
	s := b.open(options(b, b.server.URL()), o, time.Minute)
	g := b.must(s, election("primer", nil))
	b.renew(g)
	noError(b, g.(coord.Publisher).Publish(b.ctx, []byte("x")))
	noError(b, g.Release(b.ctx))
}

func election(name string, data []byte) coord.Claim {
	return coord.Claim{Kind: coord.KindElection, Name: name, Data: data}
}

// forever makes a claim wait until granted.
func forever(c coord.Claim) coord.Claim {
	c.Wait = coord.Forever
	return c
}

func (b bench) must(s coord.DriverSession, c coord.Claim) coord.Grant {
	b.Helper()
	g, ok, err := s.Acquire(b.ctx, c)
	if err != nil || !ok {
		b.Fatalf("acquiring %q: ok %v, %v", c.Name, ok, err)
	}
	return g
}

func (b bench) renew(g coord.Grant) coord.Window {
	b.Helper()
	w, err := g.(coord.Renewer).Renew(b.ctx)
	if err != nil {
		b.Fatalf("renewing: %v", err)
	}
	return w
}

// wait waits for an event, or fails.
func (b bench) wait(event <-chan struct{}) {
	b.Helper()
	select {
	case <-event:
	case <-b.ctx.Done():
		b.Fatal("waited in vain")
	}
}

// value reads a key past the driver; "" where there is none.
func (b bench) value(key string) string {
	b.Helper()
	v, err := b.raw.Get(b.ctx, key).Result()
	if err != nil && err != redis.Nil {
		b.Fatal(err)
	}
	return v
}

// wantOwner fails unless the key is g's, with that data.
func (b bench) wantOwner(key string, g coord.Grant, data string) {
	b.Helper()
	v := rediscoord.OwnerOf([]byte(b.value(key)))
	if v.ID != g.Info().Owner || string(v.Data) != data {
		b.Errorf("the key is %s's with %q, want %s with %q", v.ID, v.Data, g.Info().Owner, data)
	}
}

var uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-`)

// clean fails when an error tells a nonce or a password.
func (b bench) clean(err error) {
	b.Helper()
	if err != nil && (uuidPattern.MatchString(err.Error()) || regexp.MustCompile("hunter2").MatchString(err.Error())) {
		b.Errorf("an error tells a secret: %v", err)
	}
}

// noError ends the test if there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
