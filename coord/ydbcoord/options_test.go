package ydbcoord_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

func TestOptionsOfASessionReachTheService(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		for _, c := range []struct {
			options     ydbcoord.Options
			session     coord.SessionOptions
			ttl         time.Duration
			description string
		}{
			{ydbcoord.Options{}, coord.SessionOptions{}, 10 * time.Second, "coordtop"},
			{ydbcoord.Options{TTL: 7 * time.Second}, coord.SessionOptions{Description: "who"}, 7 * time.Second, "who"},
			{ydbcoord.Options{TTL: 7 * time.Second}, coord.SessionOptions{TTL: time.Minute}, time.Minute, "coordtop"},
			{ydbcoord.Options{}, coord.SessionOptions{Description: strings.Repeat("ü", 600)}, 10 * time.Second, strings.Repeat("ü", 512)},
			{ydbcoord.Options{}, coord.SessionOptions{Description: "a\xff"}, 10 * time.Second, "a?"},
		} {
			s, err := b.driver(t, c.options).OpenSession(t.Context(), c.session)
			noError(t, err)
			seen := b.Sessions(node)[0]
			if seen.Timeout != c.ttl || seen.Description != c.description {
				t.Errorf("%+v %+v: the service has %v and %q", c.options, c.session, seen.Timeout, seen.Description)
			}
			if s.Info().ID != ydbcoord.OwnerID(seen.ID, "") {
				t.Errorf("it calls itself %q, the service %d", s.Info().ID, seen.ID)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestOptionsThatCannotBeAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Address: "127.0.0.1:1", Database: "/local"})
	noError(t, err)
	for _, o := range []ydbcoord.Options{{TTL: -1}, {TTL: time.Millisecond}, {TTL: time.Hour}} {
		if _, err := c.Driver("n", o); !errors.Is(err, coord.ErrInvalid) {
			t.Errorf("%+v: %v, want ErrInvalid", o, err)
		}
	}
	for _, path := range []string{"", "/", "\xff"} {
		if _, err := c.Driver(path, ydbcoord.Options{}); !errors.Is(err, coord.ErrInvalid) {
			t.Errorf("node %q: %v, want ErrInvalid", path, err)
		}
	}
	d, err := c.Driver("n", ydbcoord.Options{})
	noError(t, err)
	if _, err := d.Open(t.Context(), coord.SessionOptions{TTL: time.Hour}); !errors.Is(err, coord.ErrInvalid) {
		t.Errorf("a session of an hour: %v, want ErrInvalid", err)
	}
	for _, o := range []ydbcoord.ClientOptions{{}, {Address: "h:1"}, {Database: "/d"}, {Address: "h:1", Database: "/d", User: "u", AccessToken: "t"}} {
		if _, err := ydbcoord.NewClient(o); !errors.Is(err, coord.ErrInvalid) {
			t.Errorf("%+v: %v, want ErrInvalid", o, err)
		}
	}
}

func TestWaitLongerThanTheServiceCountsIsForEver(t *testing.T) {
	t.Parallel()
	owned(t, func(t *testing.T, b *bench, _ coord.Grant) {
		s := b.session(t, ydbcoord.Options{})
		c := mutex("m")
		for wait, want := range map[time.Duration]time.Duration{
			25 * time.Hour: -1, 24 * time.Hour: 24 * time.Hour, 1500 * time.Microsecond: 2 * time.Millisecond,
		} {
			c.Wait = wait
			p, err := s.Enqueue(t.Context(), c)
			noError(t, err)
			if got := b.Waiters(node, "m")[0].Wait; got != want {
				t.Errorf("a wait of %v was sent as %v, want %v", wait, got, want)
			}
			if err := p.Leave(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSemaphoresOfSeveralPermitsCarryWhatWasClaimed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		noError(t, s.Create(t.Context(), "s", 5, []byte("about")))
		must(t, s, coord.Claim{Kind: coord.KindSemaphore, Name: "s", Permits: 3, Data: []byte("me")})
		must(t, s, coord.Claim{Kind: coord.KindSemaphore, Name: "eph", Permits: 2, Ephemeral: true})
		if sem, err := b.Semaphore(node, "s"); err != nil || sem.Taken != 3 || string(sem.Owners[0].Data) != "me" || string(sem.Data) != "about" {
			t.Errorf("the service has %+v, %v", sem, err)
		}
		if sem, err := b.Semaphore(node, "eph"); err != nil || sem.Taken != 2 || !sem.Ephemeral {
			t.Errorf("the service has %+v, %v", sem, err)
		}
		must(t, s, mutex("m"))
		d, err := s.Describe(t.Context(), coord.KindMutex, "m")
		if err != nil || d.Limit != 1 || d.Taken != 1 || d.Owners[0].Permits != 1 {
			t.Errorf("a mutex is described as %+v, %v", d, err)
		}
	})
}
