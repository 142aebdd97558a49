package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/action"
	"coordtop/internal/certs"
	"coordtop/internal/config"
	"coordtop/internal/operate"
	"coordtop/sources"
)

const auditName = "audit.jsonl"

// operator makes what acts on the sources of c. The caller gives back what it holds. A
// panic in one of its goroutines is beside's to tell.
func (p *program) operator(c config.Config, hub *sources.Hub, beside *watched, always bool) *operate.Operator {
	o := operate.Options{View: hub, Backends: map[string]operate.Backend{}, Always: always, Catch: beside.do}
	who := p.actor()
	if dir := config.Dir(p.env.Lookup, "XDG_STATE_HOME", filepath.Join(".local", "state")); dir != "" {
		o.Audit = operate.NewJournal(filepath.Join(dir, auditName), who)
	}
	identity := identityOf(c.Identity, who)
	for _, s := range c.Sources {
		if b, ok := p.backend(s, identity); ok {
			b.Demo, b.Crash = p.crash != nil, p.crash
			o.Backends[s.Name] = b
		}
	}
	return operate.New(o)
}

// giveBackWith gives back what is held as soon as ctx ends: a terminal or a pipe that nobody
// reads may keep the rest of the command for longer than that may take.
func giveBackWith(ctx context.Context, op *operate.Operator) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = op.Close(context.Background()) }) // giveBack tells the error
}

// giveBack resigns what is held, within two seconds, or waits until that was done. What
// could not be told to its service runs out there; the audit and the log have it.
func (p *program) giveBack(op *operate.Operator) {
	if err := op.Close(context.Background()); err != nil {
		p.logger().Warn("Giving back what we hold", "error", err)
	}
}

// actor is who sits here, as far as the machine knows.
func (p *program) actor() operate.Actor {
	var a operate.Actor
	if u, err := user.Current(); err == nil {
		a.User = u.Username
	} else {
		a.User = "uid " + strconv.Itoa(os.Getuid())
	}
	if host, err := os.Hostname(); err == nil {
		a.Host = host
	}
	if ssh, _ := p.env.Lookup("SSH_CONNECTION"); ssh != "" {
		if f := strings.Fields(ssh); len(f) >= 2 {
			a.SSH = net.JoinHostPort(f[0], f[1])
		}
	}
	return a
}

const (
	defaultIdentity = "{user}@{host}:{pid}"
	identityLimit   = 40 // that many survive on every backend
)

// identityOf fills in the template of our label. Where it is too long the host gives way:
// who and which process must stay.
func identityOf(template string, who operate.Actor) string {
	if template == "" {
		template = defaultIdentity
	}
	host := plainASCII(who.Host)
	fill := func(host string) string {
		return strings.NewReplacer("{user}", plainASCII(who.User), "{host}", host, "{pid}", strconv.Itoa(os.Getpid())).Replace(template)
	}
	full := fill(host)
	if over := len(full) - identityLimit; over > 0 && strings.Contains(template, "{host}") {
		full = fill(host[:max(1, len(host)-over)])
	}
	return full[:min(len(full), identityLimit)]
}

func plainASCII(s string) string {
	if s == "" {
		return "unknown"
	}
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == '|' {
			return '_'
		}
		return r
	}, s)
}

// backend is what can be done with a source; ok is false where this build knows no driver
// for it.
func (p *program) backend(s config.Source, identity string) (b operate.Backend, ok bool) {
	b = operate.Backend{Type: s.Type, Identity: identity, ReadOnly: s.ReadOnly, Protect: s.Protect}
	switch s.Type {
	case config.TypeRedis:
		p.redisBackend(&b, s)
	case config.TypePostgres:
		p.postgresBackend(&b, s)
	case config.TypeYDB:
		p.ydbBackend(&b, s)
	default:
		return b, false
	}
	return b, true
}

// redisLease is the TTL of what we own in Redis: that of LeaderService.
const redisLease = 30 * time.Second

// redisRenew is more often than a lease of that length needs: somebody watches, and wants
// to hear soon that it was taken away.
const redisRenew = 3 * time.Second

func (p *program) redisBackend(b *operate.Backend, s config.Source) {
	b.Caps = coord.Caps{Mutex: true, Election: true, MaxData: 4096}
	b.Nameless, b.RunsOut, b.Lease, b.Renew = true, true, redisLease, redisRenew
	if o, err := redisClient(s); err == nil {
		b.Login = o.User
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

// cutText keeps the beginning of a long text.
func cutText(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// postgresLease is how long Postgres keeps a session whose link was cut: see pgcoord.
const postgresLease = 11 * time.Second

func (p *program) postgresBackend(b *operate.Backend, s config.Source) {
	b.Caps = coord.Caps{Mutex: true, Election: true, Shared: true, Fence: true, FIFO: true, MaxData: 7900}
	b.Lease = postgresLease
	if b.Login = s.User; b.Login == "" {
		if t, err := config.ParseURL(s.URL); err == nil {
			b.Login = t.User
		}
	}
	b.Open = func(ctx context.Context, database string) (coord.Driver, error) {
		o := pgcoord.Options{
			TTL: postgresLease, Scheme: pgcoord.Scheme(s.Scheme), Override: pgcoord.Override{User: s.User, Database: database},
		}
		if s.TLS != (certs.Files{}) {
			t, err := s.TLS.Load()
			if err != nil {
				return nil, err
			}
			o.Override.TLS = t
		}
		password, err := s.Password.Resolve(ctx, p.env.Lookup)
		if err != nil {
			return nil, fmt.Errorf("finding the password: %w", err)
		}
		o.Override.Password = password
		return pgcoord.New(s.URL, o)
	}
	b.Call = func(r action.Request) string { return postgresCall(r, pgcoord.Scheme(s.Scheme)) }
	b.Refuses = func(row *sources.Primitive) string {
		if extensionKey.MatchString(row.Name) {
			return "its key was made by an extension: the functions for advisory locks cannot take it"
		}
		return ""
	}
}

// extensionKey is how pgcoord.Key.String writes a key that an extension made.
var extensionKey = regexp.MustCompile(`^\d+:\d+/\d+$`)

// postgresCall is what the driver sends: see coord/pgcoord.
func postgresCall(r action.Request, scheme pgcoord.Scheme) string {
	key := sqlKey(r.Target.Ref.Name, scheme)
	shared := ""
	if r.Mode == sources.Shared {
		shared = "_shared"
	}
	switch r.Verb {
	case action.Acquire, action.Campaign:
		return fmt.Sprintf("select pg_advisory_lock%s(%s), on a connection of its own", shared, key)
	case action.Try:
		return fmt.Sprintf("select pg_try_advisory_lock%s(%s), on a connection of its own", shared, key)
	case action.Proclaim:
		return fmt.Sprintf("set application_name and notify %s with the data %s", pgcoord.Channel, strconv.Quote(cutText(string(r.Data))))
	case action.Resign:
		return fmt.Sprintf("select pg_advisory_unlock%s(%s)", shared, key)
	}
	return r.Verb.String()
}

// sqlKey is the key of a lock as it stands in a call.
func sqlKey(name string, scheme pgcoord.Scheme) string {
	k, named, err := pgcoord.ParseKey(name)
	if named {
		quoted := "'" + strings.ReplaceAll(name, "'", "''") + "'"
		switch scheme {
		case "", pgcoord.Hashtextextended:
			return "hashtextextended(" + quoted + ", 0)"
		}
		return string(scheme) + "(" + quoted + ")"
	}
	if a, b, pair := k.Pair(); pair && err == nil {
		return fmt.Sprintf("%d, %d", a, b)
	}
	return name
}

// crash ends the process of an owner, without a word.
type crash = func(ref sources.Ref, owner sources.OwnerRef) error
