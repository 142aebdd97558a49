package rediscoord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/certs"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
)

// The rights that doc.go tells, without those that it calls optional.
const (
	rights      = "+evalsha +eval +get +set +exists +del +pexpire"
	rightsToSee = rights + " +pttl +type +getrange"
)

func TestUserWithTheRightsThatTheDocumentationTellsCanDoEverything(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rights string
		look   bool
	}{
		"least":  {rights, false},
		"seeing": {rightsToSee, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, localserver.RedisOptions{Users: []string{"alice on >hunter2 ~app:* " + c.rights}})
			address := options(t, "redis://alice:hunter2@"+b.server.Addr())
			s, rival := b.open(address, brisk, time.Minute), b.open(address, brisk, time.Minute)
			g := b.must(s, election("app:k", []byte("one")))
			b.renew(g)
			if err := g.(coord.Publisher).Publish(b.ctx, []byte("two")); err != nil {
				t.Errorf("publishing: %v", err)
			}
			if _, ok, err := rival.Acquire(b.ctx, election("app:k", nil)); ok || err != nil {
				t.Errorf("a try of what is owned: ok %v, %v", ok, err)
			}
			d, err := s.(coord.Describer).Describe(b.ctx, coord.KindElection, "app:k")
			if c.look && (err != nil || len(d.Owners) != 1) {
				t.Errorf("describing: %+v, %v", d, err)
			}
			if !c.look && !errors.Is(err, coord.ErrRefused) {
				t.Errorf("describing without the rights: %v, want ErrRefused", err)
			}
			if err := g.Release(b.ctx); err != nil {
				t.Errorf("releasing: %v", err)
			}
			_, ok, err := s.Acquire(b.ctx, election("other:k", nil))
			if ok || !errors.Is(err, coord.ErrRefused) {
				t.Errorf("a key that is not allowed: ok %v, %v, want ErrRefused", ok, err)
			}
			b.clean(err)
		})
	}
}

func TestEachMissingRightIsRefused(t *testing.T) {
	t.Parallel()
	for right, verb := range map[string]string{
		"+evalsha": "acquire", "+exists": "acquire", "+set": "acquire", "+get": "renew", "+pexpire": "renew", "+del": "release",
	} {
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			less := strings.Replace(rights, right, "", 1)
			b := setup(t, localserver.RedisOptions{Users: []string{"alice on >hunter2 ~* " + less}})
			s := b.open(options(t, "redis://alice:hunter2@"+b.server.Addr()), brisk, time.Minute)
			g, ok, err := s.Acquire(b.ctx, forever(election("k", nil)))
			if verb == "acquire" {
				if ok || !errors.Is(err, coord.ErrRefused) {
					t.Errorf("acquiring: ok %v, %v, want ErrRefused", ok, err)
				}
				if v := b.value("k"); v != "" {
					t.Error("the refused claim left a key")
				}
				return
			}
			if !ok {
				t.Fatalf("acquiring: ok %v, %v", ok, err)
			}
			if verb == "renew" {
				_, err = g.(coord.Renewer).Renew(b.ctx)
			} else {
				err = g.Release(b.ctx)
			}
			if !errors.Is(err, coord.ErrRefused) || errors.Is(err, coord.ErrLost) {
				t.Errorf("to %s: %v, want ErrRefused and no loss", verb, err)
			}
			b.clean(err)
		})
	}
}

func TestPublishWithoutTheRightLeavesTheGrant(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{Users: []string{"alice on >hunter2 ~* " + rights}})
	g := b.must(b.open(options(t, "redis://alice:hunter2@"+b.server.Addr()), brisk, time.Minute), election("k", []byte("old")))
	noError(t, b.raw.Do(b.ctx, "acl", "setuser", "alice", "-set").Err())
	if err := g.(coord.Publisher).Publish(b.ctx, []byte("new")); !errors.Is(err, coord.ErrRefused) {
		t.Errorf("publishing: %v, want ErrRefused", err)
	}
	b.renew(g)
	b.wantOwner("k", g, "old")
}

func TestOpenIsRefusedWhereTryingAgainIsUseless(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{Password: "hunter2", Users: []string{"alice on >hunter22 ~* +@all"}})
	tls := setup(t, localserver.RedisOptions{TLS: true})
	plain, encrypted := b.server.Addr(), tls.server.Addr()
	for name, url := range map[string]string{
		"no password":           "redis://" + plain,
		"wrong password":        "redis://:hunter2x@" + plain,
		"wrong user":            "redis://bob:hunter2@" + plain,
		"an unknown authority":  "rediss://" + encrypted,
		"another server's name": "rediss://" + encrypted + "?server_name=other&ca=" + tls.server.TLSFiles().CA,
	} {
		err := openError(t, b, url)
		if !errors.Is(err, coord.ErrRefused) {
			t.Errorf("%s: %v, want ErrRefused", name, err)
		}
		b.clean(err)
	}
	for name, url := range map[string]string{
		"TLS towards plain": "rediss://:hunter2@" + plain + "?dial_timeout=100ms", // a plain server waits for more
		"plain towards TLS": "redis://:hunter2@" + encrypted,
		"nobody listens":    "redis://:hunter2@127.0.0.1:1",
	} {
		err := openError(t, b, url)
		if err == nil || errors.Is(err, coord.ErrRefused) {
			t.Errorf("%s: %v, want an error that may pass", name, err)
		}
		b.clean(err)
	}
	for _, url := range []string{"redis://:hunter2@" + plain, "redis://alice:hunter22@" + plain} {
		if err := openError(t, b, url); err != nil {
			t.Errorf("the right password: %v", err)
		}
	}
}

// openError opens a session, closes it and returns what the opening said.
func openError(t *testing.T, b bench, url string) error {
	t.Helper()
	s, err := driver(t, url, brisk).Open(b.ctx, coord.SessionOptions{})
	if err == nil {
		s.Abandon()
	}
	return err
}

func TestTLSWithACustomAuthorityAndAClientCertificate(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{TLS: true, ClientCert: true})
	files := b.server.TLSFiles()
	url := fmt.Sprintf("%s?ca=%s&cert=%s&key=%s", b.server.URL(), files.CA, files.Cert, files.Key)
	g := b.must(b.open(options(t, url), brisk, time.Minute), election("k", nil))
	b.wantOwner("k", g, "")
	b.renew(g)
	byConfig := options(t, url)
	loaded, err := byConfig.TLSFiles.Load()
	noError(t, err)
	byConfig.TLS, byConfig.TLSFiles = loaded, nil
	b.must(b.open(byConfig, brisk, time.Minute), election("by config", nil))
	if err := openError(t, b, b.server.URL()+"?ca="+files.CA); err == nil {
		t.Error("a server that wants a certificate let us in without one")
	}
	for name, bad := range map[string]certs.Files{
		"no such file":     {CA: files.CA + "x"},
		"not a PEM":        {CA: "refused_test.go"},
		"a key is missing": {Cert: files.Cert},
		"mixed up":         {Cert: files.Key, Key: files.Cert},
	} {
		o := options(t, b.server.URL())
		o.TLSFiles = &bad
		if _, err := rediscoord.NewClient(t.Context(), o); err == nil {
			t.Errorf("%s: NewClient accepts it", name)
		}
		if _, err := rediscoord.New(o, brisk); err == nil {
			t.Errorf("%s: New accepts it", name)
		}
	}
}

func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.must(b.direct(time.Minute), election("k", nil))
	third := options(t, "redis://"+b.server.Addr()+"/3")
	g := b.must(b.open(third, brisk, time.Minute), election("k", nil))
	b.renew(g)
	if n := b.raw.Exists(b.ctx, "k").Val(); n != 1 {
		t.Errorf("DB 0 has %d keys, want ours", n)
	}
	keys := client(t, "redis://"+b.server.Addr()+"/3").Keys(b.ctx, "*").Val()
	if len(keys) != 1 || keys[0] != "k" {
		t.Errorf("DB 3 has the keys %v, want ours", keys)
	}
}

func TestKeyOfAnotherTypeIsRefusedAndKept(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	s := b.direct(time.Minute)
	noError(t, b.raw.HSet(b.ctx, "k", "a", "b").Err())
	for _, c := range []coord.Claim{election("k", nil), forever(election("k", nil))} {
		_, ok, err := s.Acquire(b.ctx, c)
		if ok || !errors.Is(err, coord.ErrRefused) || !strings.Contains(err.Error(), "hash") {
			t.Errorf("acquiring a hash: ok %v, %v, want ErrRefused that names the type", ok, err)
		}
	}
	if _, err := s.(coord.Describer).Describe(b.ctx, coord.KindElection, "k"); !errors.Is(err, coord.ErrRefused) {
		t.Errorf("describing a hash: %v, want ErrRefused", err)
	}
	if n := b.raw.HLen(b.ctx, "k").Val(); n != 1 {
		t.Error("the hash was touched")
	}
}

func TestGrantWhoseKeyBecameAnotherTypeIsLost(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	s := b.direct(time.Minute)
	verbs := map[string]func(coord.Grant) error{
		"renew":   func(g coord.Grant) error { _, err := g.(coord.Renewer).Renew(b.ctx); return err },
		"publish": func(g coord.Grant) error { return g.(coord.Publisher).Publish(b.ctx, []byte("x")) },
	}
	for verb, do := range verbs {
		g := b.must(s, election(verb, nil))
		b.raw.Del(b.ctx, verb)
		b.raw.RPush(b.ctx, verb, "x")
		if err := do(g); !errors.Is(err, coord.ErrLost) {
			t.Errorf("to %s a list: %v, want ErrLost", verb, err)
		}
		if !errors.Is(g.Err(), coord.ErrLost) {
			t.Errorf("after %s the grant says %v, want ErrLost", verb, g.Err())
		}
	}
	g := b.must(s, election("release", nil))
	b.raw.Del(b.ctx, "release")
	b.raw.RPush(b.ctx, "release", "x")
	if err := g.Release(b.ctx); err != nil {
		t.Errorf("releasing what is not ours any more: %v", err)
	}
}

func TestKeyWithoutExpiryIsSaidSoAndMayPass(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	s := b.direct(time.Minute)
	b.raw.Set(b.ctx, "k", "host-1:7", 0)
	for _, c := range []coord.Claim{election("k", nil), forever(election("k", nil))} {
		_, ok, err := s.Acquire(b.ctx, c)
		if ok || !errors.Is(err, rediscoord.ErrNoExpiry) || errors.Is(err, coord.ErrRefused) {
			t.Errorf("acquiring a key without expiry: ok %v, %v, want ErrNoExpiry that is not final", ok, err)
		}
	}
	b.raw.Del(b.ctx, "k")
	b.must(s, election("k", nil))
}

func TestClaimsThatRedisCannotServeAreRefusedUnsent(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	s := b.direct(time.Minute)
	for name, c := range map[string]struct {
		claim coord.Claim
		want  error
	}{
		"semaphore": {coord.Claim{Kind: coord.KindSemaphore, Name: "k"}, coord.ErrUnsupported},
		"no kind":   {coord.Claim{Name: "k"}, coord.ErrUnsupported},
		"shared":    {coord.Claim{Kind: coord.KindMutex, Name: "k", Mode: coord.Shared}, coord.ErrUnsupported},
		"permits":   {coord.Claim{Kind: coord.KindMutex, Name: "k", Permits: 2}, coord.ErrUnsupported},
		"limit":     {coord.Claim{Kind: coord.KindMutex, Name: "k", Limit: 2}, coord.ErrUnsupported},
		"ephemeral": {coord.Claim{Kind: coord.KindMutex, Name: "k", Ephemeral: true}, coord.ErrUnsupported},
		"no name":   {coord.Claim{Kind: coord.KindMutex}, coord.ErrRefused},
		"long data": {coord.Claim{Kind: coord.KindMutex, Name: "k", Data: make([]byte, s.Info().Caps.MaxData+1)}, coord.ErrDataTooLong},
		"short TTL": {coord.Claim{Kind: coord.KindMutex, Name: "k", TTL: time.Millisecond}, coord.ErrRefused},
	} {
		if _, ok, err := s.Acquire(b.ctx, c.claim); ok || !errors.Is(err, c.want) {
			t.Errorf("%s: ok %v, %v, want %v", name, ok, err, c.want)
		}
	}
	if n := b.raw.DBSize(b.ctx).Val(); n != 0 {
		t.Errorf("%d keys were made", n)
	}
	if _, err := driver(t, b.server.URL(), brisk).Open(b.ctx, coord.SessionOptions{TTL: time.Millisecond}); err == nil {
		t.Error("a session with a TTL of 1 ms opened")
	}
}

// TestWaitingClaimAsksOnceForWhatItMayNotKnow looks at ACL LOG while a claim tries again and
// again, over two sessions.
func TestWaitingClaimAsksOnceForWhatItMayNotKnow(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{Users: []string{"alice on >pw ~* +ping +evalsha +eval +get +set +exists +del +pexpire"}})
	o := options(t, b.server.URL())
	o.User, o.Password = "alice", "pw"
	b.raw.Set(b.ctx, "k", "somebody", 0)
	d, err := rediscoord.New(o, brisk)
	noError(t, err)
	for range 2 {
		s, err := d.Open(b.ctx, coord.SessionOptions{TTL: time.Minute})
		noError(t, err)
		ctx, stop := context.WithCancel(b.ctx)
		waiting := make(chan error, 1)
		go func() { // joined below
			c := election("k", nil)
			c.Wait = patience
			_, _, err := s.Acquire(ctx, c)
			waiting <- err
		}()
		calls := func() (n int) {
			_, rest, _ := strings.Cut(b.raw.Info(b.ctx, "commandstats").Val(), "cmdstat_evalsha:calls=")
			_, _ = fmt.Sscanf(rest, "%d", &n)
			return n
		}
		for until := calls() + 4; calls() < until && b.ctx.Err() == nil; {
		}
		stop()
		<-waiting
		s.Abandon()
	}
	list, err := b.raw.Do(b.ctx, "ACL", "LOG").Slice()
	if err != nil || len(list) == 0 {
		t.Fatalf("%v: nothing was refused", err)
	}
	for _, e := range list {
		if entry, _ := e.(map[any]any); entry["count"] != int64(1) {
			t.Errorf("%v was refused %v times", entry["object"], entry["count"])
		}
	}
}
