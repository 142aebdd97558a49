package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/ground/glob"
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
				{Name: "valkey", Port: port, Shown: "valkey://", Plain: "valkeys"}, {Name: "valkeys", Port: port, Shown: "valkeys:// (TLS)"},
				{Name: "redis+sentinel", Port: port, Shown: "redis+sentinel://", Plain: "rediss+sentinel", Primary: true}, {Name: "rediss+sentinel", Port: port, Primary: true},
				{Name: "unix", Port: port, Shown: "unix:///PATH (Redis)", Socket: true},
				{Name: "redis+cluster", Port: port, Plain: "rediss+cluster"}, {Name: "rediss+cluster", Port: port},
			},
			Traits:    []config.Trait{config.Legible, config.Forget, config.Semaphores, config.Numbered},
			Parameter: redisParameter,
			Check: func(s config.Source, _ map[string]string) error {
				_, err := redisSource(Host{}, s, nil)
				return err
			},
			Docs: config.Docs{
				Example: "redis://localhost:6379/0", Path: "/0", Select: "?keys=app:lock:*",
				Help: "?keys=PATTERN, ?election=PATTERN and ?mutex=PATTERN, or ?prefix=app&leader=billing for the key app:leader:billing of LeaderService; without that, everything that looks like a lock is shown",
			},
			Variables: []config.Variable{{Name: "REDIS_URL"}, {
				Name: "REDIS_HOST", Also: []string{"MUTEX_REDIS_HOST", "REDIS_SENTINEL_HOST", "MUTEX_REDIS_SENTINEL_HOST"}, URL: redisVariables,
				With: "also REDIS_PORT, REDIS_SENTINEL_HOST, REDIS_SENTINEL_PORT and REDIS_SENTINEL_NAME, each with MUTEX_ before it as well",
			}},
		},
		LogTo: rediscoord.LogTo, Source: redisSource, Driver: redisDriver, Row: redisRow,
	}
}

// redisVariables makes a URL of the variables that LeaderService reads.
func redisVariables(env config.Lookup) (string, error) {
	o, err := rediscoord.FromEnvironment(env)
	return o.String(), err
}

// redisParameter also reads the prefix and the key of LeaderService.
func redisParameter(t *config.Target, key, value string) (ours bool, err error) {
	switch key {
	case "prefix":
		t.Prefix, err = config.Unescape(key, value)
		return true, err
	case "leader":
		if t.Prefix == "" || value == "" {
			return true, errors.New("leader= is the key of LeaderService, behind its prefix: write prefix=app&leader=billing")
		}
		key, value = "election", escape(rediscoord.LeaderKey(glob.Escape(t.Prefix), ""))+value
	}
	return patternParameter(rediscoord.ParseURL, "prefix", "leader")(t, key, value)
}

// redisClient reads the URL and adds the settings of the config. The password is still missing if it is a Secret.
func redisClient(s config.Source) (rediscoord.ClientOptions, error) {
	o, err := rediscoord.ParseURL(s.URL)
	if s.User != "" {
		o.User = s.User
	}
	o.TLSFiles = tlsOf(s, o.TLSFiles)
	return o, err
}

// redisSource accepts a cluster: Connect refuses it, so that the board shows it with the reason.
func redisSource(h Host, s config.Source, _ map[string]string) (Prepared, error) {
	client, err := redisClient(s)
	many, wrong := patterns(s.Watch)
	p := Prepared{Space: strconv.Itoa(client.DB), Many: many, Selects: selecting(s.Watch), Check: client.Check, Place: placed(strconv.Itoa(client.DB))}
	p.Open = func(password string) (sources.Source, error) {
		o := redissource.Options{
			Name: s.Name, Client: client, Forget: s.Forget, PollMin: s.PollMin, PollMax: s.PollMax, Labels: s.Labels,
			Legible: s.Legible, Selections: s.Watch,
		}
		o.Client.Password = cmp.Or(password, client.Password)
		if !h.Lasts {
			o.Share = 0.2
		}
		return redissource.New(o), nil
	}
	return p, errors.Join(err, wrong)
}

// redisLease is the TTL of our leases in Redis, as in LeaderService.
const redisLease = 30 * time.Second

// redisRenew is below the need of a lease of that length: a person watches, and wants to see a loss soon.
const redisRenew = 3 * time.Second

func redisDriver(h Host, s config.Source, b *operate.Backend) {
	b.Caps = rediscoord.Options{}.Caps()
	b.Nameless, b.RunsOut, b.Lease, b.Renew, b.CheckLease = true, true, redisLease, redisRenew, rediscoord.CheckTTL
	if o, err := redisClient(s); err == nil && (o.Password != "" || !s.Password.IsZero()) {
		b.Login = o.User // without a password the user is not sent, and may be a password in the wrong place
	}
	used := explained(b, func(err error, o rediscoord.ClientOptions) error { return redissource.Explain(err, o, 0, false) })
	b.Open = func(ctx context.Context, _ string) (coord.Driver, error) {
		client, err := redisClient(s)
		if err != nil {
			return nil, err
		}
		password, err := secretOf(ctx, h, s)
		if err != nil {
			return nil, err
		}
		client.Password = cmp.Or(password, client.Password)
		used.Store(&client)
		return rediscoord.New(client, rediscoord.Options{TTL: redisLease, Removal: redissource.Removal})
	}
	call := sent(rediscoord.Options{TTL: redisLease}.Wire)
	b.Call = func(r action.Request) string {
		if r.Verb == action.Release {
			return fmt.Sprintf("script: remove the owner of %q if its value is still the one on screen (guard %s), and wake those who wait", r.Target.Ref.Name, r.Target.Guard)
		}
		return call(r)
	}
	b.Force = &operate.Force{Refuses: redisNotReleased, Effect: redisReleased}
	// A key may be any bytes. One that is not UTF-8 is shown under a name that belongs to another key.
	b.Refuses = func(row *sources.Primitive) string {
		if len(row.Owners) == 0 && strings.Contains(row.Name, string(utf8.RuneError)) {
			return "its name has U+FFFD, which stands for bytes that are no UTF-8: another key would be claimed; write the bytes themselves, in a URL as %FF"
		}
		return ""
	}
}

// redisNotReleased returns why an owner cannot be compared; "": it can.
func redisNotReleased(_ *sources.Row, w *sources.Owner) string {
	if w.Guard != "" {
		return ""
	}
	return fmt.Sprintf("its value is longer than the %d bytes that are read, so that it cannot be compared: its owner has to release it", sources.BlobHead)
}

// redisReleased describes the consequences of a forced release for the owner and for the programs that wait.
func redisReleased(row *sources.Row, w *sources.Owner) []string {
	notices := "until its next renewal fails, or until it looks"
	switch every := w.RenewEvery(); {
	case every > 0:
		notices = "until its next renewal fails: it renews about every " + every.Round(100*time.Millisecond).String()
	case w.NoExpiry:
		notices = "until it looks at the key, which may be never: its lease has no end, so it does not renew it"
	}
	lines := []string{
		"Redis does not tell the owner. It goes on as if it owned it " + notices + ".",
		"Programs that wait for a message, as those with Redisson do, are woken; the others try again after their own pause.",
	}
	format, _ := row.Format()
	if when := redissource.Unchecked(format); when != "" {
		lines = append(lines, fmt.Sprintf("When the old owner releases it later, that may free the next owner: the release of %s does not compare in the same step (%s).", format, when))
	}
	return lines
}

// redisRow returns the parameters that select a row, with the characters of patterns escaped.
func redisRow(s config.Source, r *sources.Row, kind string) (query string, user bool) {
	client, err := rediscoord.ParseURL(s.URL)
	sent := err != nil || client.Password != "" || !s.Password.IsZero() // without a password the user is not sent
	query = cmp.Or(kind, "keys") + "=" + escape(glob.Escape(r.Name))
	if address, _ := rediscoord.ParseURL(s.Address); address.DB != client.DB {
		query = fmt.Sprintf("db=%d&%s", client.DB, query)
	}
	return query, sent
}
