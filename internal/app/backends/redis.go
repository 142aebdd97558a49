package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/certs"
	"coordtop/internal/config"
	"coordtop/internal/glob"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/redissource"
)

func redis() Backend {
	const port = "6379"
	return Backend{
		Backend: config.Backend{
			Type: "redis", Title: "Redis",
			Schemes: []config.Scheme{
				{Name: "redis", Port: port, Shown: "redis://", Plain: "rediss"}, {Name: "rediss", Port: port, Shown: "rediss:// (TLS)"},
				{Name: "redis+sentinel", Port: port, Shown: "redis+sentinel://", Plain: "rediss+sentinel", Primary: true}, {Name: "rediss+sentinel", Port: port, Primary: true},
				{Name: "redis+cluster", Port: port, Plain: "rediss+cluster"}, {Name: "rediss+cluster", Port: port},
			},
			Traits: []config.Trait{config.Legible, config.Forget, config.Semaphores, config.Numbered},
			Check: func(s config.Source, _ map[string]string) error {
				_, err := redisClient(s)
				return err
			},
			Docs: config.Docs{
				Example: "redis://localhost:6379/0", Select: "?keys=app:lock:*",
				Help: "?keys=PATTERN, ?election=PATTERN and ?mutex=PATTERN; without that, everything that looks like a lock is shown",
			},
			Variables: []config.Variable{{Name: "REDIS_URL"}},
		},
		LogTo: rediscoord.LogTo, Source: redisSource, Driver: redisDriver, Row: redisRow,
	}
}

// redisClient reads the URL and adds what stands beside it in the config. The password
// is still missing if it is a Secret.
func redisClient(s config.Source) (rediscoord.ClientOptions, error) {
	o, err := rediscoord.ParseURL(s.URL)
	if errors.Is(err, rediscoord.ErrParameter) {
		return o, fmt.Errorf("%w; to select there are keys, election, mutex and semaphore", err)
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

// redisSource leaves it to Connect to refuse a cluster: it stands on the screen with that.
func redisSource(_ Host, s config.Source, _ map[string]string) (Prepared, error) {
	client, err := redisClient(s)
	p := Prepared{Space: strings.TrimPrefix(pathOf(s), "/")}
	for _, w := range s.Watch {
		p.Many = p.Many || strings.ContainsAny(w.Pattern, `*?[\`)
	}
	p.Check = func() error {
		if client.Topology == rediscoord.Cluster {
			return errors.New("a cluster cannot be watched as a whole yet: name its masters one by one, each as redis://host:port")
		}
		return client.Check()
	}
	p.Open = func(password string) (sources.Source, error) {
		client := client
		if password != "" {
			client.Password = password
		}
		return redissource.New(redisOptions(s, client)), nil
	}
	return p, err
}

// redisLease is the TTL of what we own in Redis: that of LeaderService.
const redisLease = 30 * time.Second

// redisRenew is more often than a lease of that length needs: somebody watches, and wants
// to hear soon that it was taken away.
const redisRenew = 3 * time.Second

func redisDriver(h Host, s config.Source, b *operate.Backend) {
	b.Caps = rediscoord.Options{}.Caps()
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
		password, err := s.Password.Resolve(ctx, h.Lookup)
		if err != nil {
			return nil, fmt.Errorf("finding the password: %w", err)
		}
		if password != "" {
			client.Password = password
		}
		used.Store(&client)
		return rediscoord.New(client, rediscoord.Options{TTL: redisLease})
	}
	b.Call = sent(rediscoord.Options{TTL: redisLease}.Wire)
}

// redisRow escapes what would be a pattern.
func redisRow(s config.Source, r *sources.Row, kind string) (query string, user bool) {
	client, err := rediscoord.ParseURL(s.URL)
	sent := err != nil || client.Password != "" || !s.Password.IsZero() // without a password the user is not sent
	return cmp.Or(kind, "keys") + "=" + escape(glob.Escape(r.Name)), sent
}
