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
	"coordtop/coord/dflockcoord"
	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/ground/glob"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/dflocksource"
)

func dflockd() Backend {
	const port = "6388"
	return Backend{
		Backend: config.Backend{
			Type: "dflockd", Title: "dflockd",
			Schemes: []config.Scheme{
				{Name: "dflockd", Port: port, Shown: "dflockd://", Plain: "dflockds"}, {Name: "dflockds", Port: port, Shown: "dflockds:// (TLS)"},
			},
			Traits:    []config.Trait{config.Forget, config.Semaphores, config.Sharded, config.ListsOwned},
			Parameter: dflockdParameter,
			Check: func(s config.Source, _ map[string]string) error {
				o, _, err := dflockdOptions(s)
				if o.Client.TLSFiles = nil; err == nil { // its files are not looked at
					_, err = dflocksource.New(o)
				}
				return err
			},
			Docs: config.Docs{
				Example: "dflockd://localhost:6388", Select: "?keys=app/*",
				Help: "?keys=PATTERN, ?election=PATTERN, ?mutex=PATTERN and ?semaphore=PATTERN; without that, every key is shown. ?lease=30s, ?renew=1s and ?idle=23s are for claims: idle is the --read-timeout of the servers; ?sharding=custom: clients choose the server of a key by a function of their own, not by its crc32",
			},
		},
		Source: dflockdSource, Driver: dflockdDriver,
		Row: func(_ config.Source, r *sources.Row, kind string) (query string, user bool) {
			return cmp.Or(kind, "keys") + "=" + escape(glob.Escape(r.Name)), false
		},
	}
}

// dflockdParameter refuses a list of names with commas, although the servers in the URL are such a list.
func dflockdParameter(t *config.Target, key, value string) (ours bool, err error) {
	if _, watched := config.WatchKind(key); watched && strings.Contains(value, ",") && !strings.Contains(value, "[") { // in a set it is usual
		return true, fmt.Errorf("%s= takes one name: write %s=A&%s=B for two, and %%2C for a comma in a name", key, key, key)
	}
	return patternParameter(dflockcoord.ParseURL)(t, key, value)
}

// dflockdClient reads the URL and adds the settings of the config. The password is still missing if it is a Secret.
func dflockdClient(s config.Source) (dflockcoord.ClientOptions, error) {
	o, err := dflockcoord.ParseURL(s.URL)
	if err == nil && s.User != "" {
		err = errors.New("dflockd knows no users, only an auth token: leave out user, give it with password_env or password_file")
	}
	o.TLSFiles = tlsOf(s, o.TLSFiles)
	return o, err
}

// dflockdOptions returns the options of a source; many reports whether one of its patterns may match several keys.
func dflockdOptions(s config.Source) (o dflocksource.Options, many bool, err error) {
	client, err := dflockdClient(s)
	many, wrong := patterns(s.Watch)
	o = dflocksource.Options{
		Name: s.Name, Client: client, Labels: s.Labels, Forget: s.Forget, PollMin: s.PollMin, PollMax: s.PollMax,
		Selections: s.Watch,
	}
	return o, many, errors.Join(err, wrong)
}

func dflockdSource(_ Host, s config.Source, _ map[string]string) (Prepared, error) {
	o, many, err := dflockdOptions(s)
	p := Prepared{Many: many, Selects: selecting(s.Watch), Place: placed(o.Client.Servers...)} // without a server the hash of the key selects it
	p.Open = func(password string) (sources.Source, error) {
		o := o
		o.Client.Secret = cmp.Or(password, o.Client.Secret)
		return dflocksource.New(o)
	}
	return p, err
}

// dflockdLease is the TTL of our leases, unless the URL sets another.
const dflockdLease = 20 * time.Second

// dflockdRenew is far below the need of a lease: a server closes a connection that is silent for its --read-timeout,
// and so ends the ownership. We do not know that time; it is at least a second.
const dflockdRenew = 500 * time.Millisecond

func dflockdDriver(h Host, s config.Source, b *operate.Backend) {
	b.Caps = dflockcoord.Options{}.Caps()
	wish, _ := dflockdClient(s) // it was read before
	b.Lease, b.CheckLease, b.LimitInClaims, b.Undescribed, b.Enqueues = cmp.Or(wish.Lease, dflockdLease), dflockcoord.CheckTTL, true, true, true
	learned := new(atomic.Int64)
	used := explained(b, func(err error, o dflockcoord.ClientOptions) error {
		return dflocksource.Explain(err, o, strings.Join(o.Servers, ","), false)
	})
	// A claim goes to the server of its row, also where the hash of the key selects another.
	b.Open = func(ctx context.Context, space string) (coord.Driver, error) {
		client, err := dflockdClient(s)
		if err != nil {
			return nil, err
		}
		password, err := secretOf(ctx, h, s)
		if err != nil {
			return nil, err
		}
		client.Secret = cmp.Or(password, client.Secret)
		if space != "" {
			client.Servers = []string{space}
		}
		used.Store(&client)
		return dflockcoord.New(client, dflockcoord.Options{
			Lease: b.Lease, RenewEvery: cmp.Or(wish.Renew, dflockdRenew), IdleCut: client.IdleCut, Learned: learned,
		})
	}
	b.Call = func(r action.Request) string { return dflockdCall(r, b.Lease) }
	b.Force = &operate.Force{Refuses: func(_ *sources.Row, w *sources.Owner) string { return dflockdEnd(w, time.Now()) }}
	b.Refuses = func(row *sources.Primitive) string {
		if strings.Contains(row.Name, " ") { // no key has a blank: see dflocksource
			return "its key is a lock's too: claim the semaphore with a client of dflockd"
		}
		for _, w := range s.Watch {
			if row.Kind == sources.KindSemaphore && (w.Kind == sources.KindMutex || w.Kind == sources.KindElection) && glob.Pattern(w.Pattern).Match(row.Name) {
				return fmt.Sprintf("it is watched as %s, and the server has it as a semaphore: to claim a permit, watch it with semaphore=", w.Kind)
			}
		}
		return reason(dflockcoord.CheckName(row.Name))
	}
}

// dflockdEnd returns the reason why the ownership of another cannot be ended by force, and the events that end it.
func dflockdEnd(w *sources.Owner, now time.Time) string {
	when := fmt.Sprintf("ends in %v unless renewed", w.Expires.At.Sub(now).Round(time.Second))
	switch {
	case w.Expires.How == sources.Unknown:
		when = "ends unless renewed"
	case !now.Before(w.Expires.At):
		when = "has run out, and the server will end it"
	}
	return "its lease " + when + "; no command can free another's lock, but closing its client's connection does, " +
		"unless the server runs with --auto-release-on-disconnect=false"
}

// dflockdCall describes what the driver sends, with the nonce as <nonce>: see coord/dflockwire.
func dflockdCall(r action.Request, ttl time.Duration) string {
	key := r.Target.Ref.Name
	prefix, limit := "", ""
	if r.Target.Kind == sources.KindSemaphore {
		prefix, limit = "s", "<limit> "
		if r.Limit > 0 {
			limit = fmt.Sprintf("%d ", r.Limit)
		}
	}
	lease := int64((ttl + time.Second - 1) / time.Second)
	switch r.Verb {
	case action.Acquire, action.Campaign:
		return fmt.Sprintf("%se %s %s%d, then %sw %s until it is ours, on a connection of its own", prefix, key, limit, lease, prefix, key)
	case action.Try:
		return fmt.Sprintf("%sl %s 0 %s%d, on a connection of its own", prefix, key, limit, lease)
	case action.Resign:
		return fmt.Sprintf("%sr %s <nonce>", prefix, key)
	}
	return r.Verb.String()
}
