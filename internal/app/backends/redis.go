package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/action"
	"coordtop/internal/certs"
	"coordtop/internal/config"
	"coordtop/internal/operate"
	"coordtop/sources/redissource"
)

// redisClient reads the URL and adds what stands beside it in the config. The password
// is still missing if it is a Secret.
func redisClient(s config.Source) (rediscoord.ClientOptions, error) {
	o, err := rediscoord.ParseURL(s.URL)
	if errors.Is(err, rediscoord.ErrParameter) {
		return o, fmt.Errorf("%w; to select there are %s", err, config.RedisParameters)
	}
	if err != nil {
		return o, err
	}
	if s.User != "" {
		o.User = s.User
	}
	if s.TLS != (certs.Files{}) {
		files := s.TLS
		if o.TLS != nil {
			files = files.Over(*o.TLS)
		}
		o.TLS = &files
	}
	return o, nil
}

func redisOptions(s config.Source, client rediscoord.ClientOptions) redissource.Options {
	o := redissource.Options{
		Name: s.Name, Client: client, Forget: s.Forget, PollMin: s.PollMin, PollMax: s.PollMax, Labels: labels(s),
		Legible: s.Legible,
	}
	for _, w := range s.Watch {
		o.Selections = append(o.Selections, redissource.Selection{Pattern: w.Pattern, Kind: w.Kind, Expected: w.Expected})
	}
	return o
}

func checkRedis(s config.Source) error {
	o, err := redisClient(s)
	if err != nil {
		return err
	}
	if o.Topology == rediscoord.Cluster {
		return errors.New("a cluster cannot be watched as a whole yet: name its masters one by one, each as redis://host:port")
	}
	return o.Check()
}

// redisLease is the TTL of what we own in Redis: that of LeaderService.
const redisLease = 30 * time.Second

// redisRenew is more often than a lease of that length needs: somebody watches, and wants
// to hear soon that it was taken away.
const redisRenew = 3 * time.Second

func (p *program) redisBackend(b *operate.Backend, s config.Source) {
	b.Caps = coord.Caps{Mutex: true, Election: true, MaxData: 4096}
	b.Nameless, b.RunsOut, b.Lease, b.Renew = true, true, redisLease, redisRenew
	if o, err := redisClient(s); err == nil && (o.Password != "" || !s.Password.IsZero()) {
		b.Login = o.User // without a password it is not sent, and may be one in the wrong place
	}
	var used atomic.Pointer[rediscoord.ClientOptions] // by the newest driver
	b.Explain = func(err error) error {
		if o := used.Load(); o != nil {
			return redissource.Explain(err, *o, 0, false)
		}
		return err
	}
	b.Open = func(ctx context.Context, _ string) (coord.Driver, error) {
		client, err := redisClient(s)
		if err != nil {
			return nil, err
		}
		password, err := s.Password.Resolve(ctx, p.env.Lookup)
		if err != nil {
			return nil, fmt.Errorf("finding the password: %w", err)
		}
		if password != "" {
			client.Password = password
		}
		used.Store(&client)
		return rediscoord.New(client, rediscoord.Options{TTL: redisLease})
	}
	b.Call = redisCall
}

// redisCall is what the driver sends, with the nonce as <nonce>: see coord/rediscoord/lua.
func redisCall(r action.Request) string {
	key, value := strconv.Quote(r.Target.Ref.Name), "<nonce>"
	if len(r.Data) > 0 {
		value = strconv.Quote("<nonce> " + cutText(string(r.Data)))
	}
	switch r.Verb {
	case action.Acquire, action.Campaign:
		return fmt.Sprintf("script: SET %s %s PX %d, if there is no such key; again at most every second", key, value, redisLease.Milliseconds())
	case action.Try:
		return fmt.Sprintf("script: SET %s %s PX %d, if there is no such key", key, value, redisLease.Milliseconds())
	case action.Proclaim:
		return fmt.Sprintf("script: SET %s %s KEEPTTL, if its value is ours", key, value)
	case action.Resign:
		return fmt.Sprintf("script: DEL %s, if its value is ours", key)
	}
	return r.Verb.String()
}
