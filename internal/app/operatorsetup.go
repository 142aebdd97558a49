package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/headless"
	"coordtop/internal/history/postgres"
	"coordtop/internal/operate"
	"coordtop/sources"
)

const (
	auditName  = "audit.jsonl"
	demoFolder = "demo" // in the state folder: the audit of the demo
)

// operator makes the Operator for the sources of c, whose audit is shared. The caller must call giveBack.
func (p *program) operator(ctx context.Context, c config.Config, view operate.View, always bool) *operate.Operator {
	log := p.auditLog()
	shareAudit(ctx, log, p.settings.sharedPlace(c), p.env.Stderr)
	o := operate.Options{View: view, Audit: log, Backends: map[string]operate.Backend{}, Always: always}
	identity := identityOf(c.Identity, actor(p.env.Lookup))
	for _, s := range c.Sources {
		b := p.backend(s, identity)
		b.Demo, b.Crash = p.crash != nil, p.crash
		o.Backends[s.Name] = b
	}
	return operate.New(ctx, o)
}

// auditLog returns the audit of this run of the program; nil: there is no place for it.
func (p *program) auditLog() *operate.AuditLog {
	dir := p.settings.stateFolder()
	if dir == "" {
		return nil
	}
	if p.crash != nil {
		dir = filepath.Join(dir, demoFolder) // so that actions in the demo are not among the real ones
	}
	return operate.NewAuditLog(filepath.Join(dir, auditName), actor(p.env.Lookup))
}

// sharedAudit returns the audit of this run of the program, with that of a team at a place as it is now. The error says
// why the latter cannot be read.
func (p *program) sharedAudit(ctx context.Context, at place) (*operate.AuditLog, error) {
	log := p.auditLog()
	if log == nil || at.team == nil {
		return log, nil
	}
	ctx, cancel := context.WithTimeout(ctx, resumeWithin)
	defer cancel()
	acts, err := postgres.ReadAudit(ctx, *at.team)
	log.Share(teamAudit{acts, at.String(), nil})
	if noRecording(err) {
		err = nil
	}
	return log, err
}

// muting reads what is muted, also by others whose store is at a place. Where that cannot be read, all problems count.
func (p *program) muting(ctx context.Context, at place, unacknowledged bool) headless.Muting {
	log, unshared := p.sharedAudit(ctx, at)
	list, err := operate.NewMutes(log).List()
	if err = errors.Join(err, unshared); err != nil {
		fmt.Fprintf(p.env.Stderr, "coordtop: %v: what is muted there is not known, and counts as a problem\n", err)
	}
	return headless.Muting{Mutes: list, Unacknowledged: unacknowledged}
}

// giveBackWith gives back what is held as soon as ctx ends: a terminal or a pipe that nobody reads may block the
// rest of the command for longer.
func giveBackWith(ctx context.Context, op *operate.Operator) (stop func() bool) {
	return spawn.OnDone(ctx, func() { _ = op.Close() }) // giveBack reports the error
}

// giveBack resigns what is held, within two seconds, or waits until that is done. A lease whose service could not
// be reached runs out there; the audit and the log have it. A claim that may still become ours there goes to
// standard error, and so do lines that the audit could not take: the board is gone by then.
func (p *program) giveBack(op *operate.Operator) {
	if err := op.Close(); err != nil {
		p.logger().Warn("Giving back what we hold", "error", err)
		if errors.Is(err, coord.ErrUncertain) {
			fmt.Fprintf(p.env.Stderr, "coordtop: %v\n", err)
		}
	}
	op.Audit().Close()
	if lines := op.Unwritten(); len(lines) > 0 {
		fmt.Fprintf(p.env.Stderr, "coordtop: the audit could not be written; it lacks\n%s\n", strings.Join(lines, "\n"))
	}
}

// findFor bounds the search for the primitive.
const findFor = 10 * time.Second

// actOn finds the one primitive with that name and has body act on it. At the end of body, or of ctx, it gives back
// what is held.
func (p *program) actOn(ctx context.Context, c config.Config, name, space string, body func(context.Context, *sources.Hub, *sources.Row, *operate.Operator) error) error {
	return p.observe(ctx, c, func(ctx context.Context, hub *sources.Hub, _ *watched) error {
		row, err := headless.Find(ctx, headless.Over(hub), name, space, findFor, backends.Select)
		if err != nil {
			return err
		}
		if err := headless.Warn(p.env.Stderr, hub.State(), row.Source); err != nil {
			return err
		}
		return p.acting(ctx, c, hub, func(op *operate.Operator) error { return body(ctx, hub, row, op) })
	})
}

// acting has body act on what hub shows. At the end of body, or of ctx, it gives back what is held.
func (p *program) acting(ctx context.Context, c config.Config, hub *sources.Hub, body func(*operate.Operator) error) error {
	defer p.unfinished.begin()()
	op := p.operator(ctx, c, hub, true)
	defer p.giveBack(op)
	defer giveBackWith(ctx, op)()
	return body(op)
}

// backend returns what an Operator needs to know of a source.
func (p *program) backend(s config.Source, identity string) operate.Backend {
	b := operate.Backend{Type: s.Type, Address: backends.Config().AddressWithoutLogin(&s), Identity: identity, ReadOnly: s.ReadOnly, Protect: s.Protect}
	backends.Of(s.Type).Driver(p.settings.host(), s, &b)
	if open := b.Open; p.env.wrapDriver != nil {
		b.Open = func(ctx context.Context, space string) (coord.Driver, error) {
			d, err := open(ctx, space)
			if err != nil {
				return nil, err
			}
			return p.env.wrapDriver(d), nil
		}
	}
	return b
}

// actionsOn returns what can be done to a row, and by force to each of its owners.
func actionsOn(op *operate.Operator, r *sources.Row) headless.Actions {
	var a headless.Actions
	for _, c := range op.Choices(r) {
		a.Row = append(a.Row, headless.Choice{Action: c.Verb.String(), Not: c.Not})
	}
	for i := range r.Owners {
		a.Owners = append(a.Owners, op.NotEnded(r, action.TargetOf(r, &r.Owners[i])))
	}
	return a
}

// actor names the person at this machine, as far as it knows.
func actor(lookup config.Lookup) operate.Actor {
	var a operate.Actor
	if u, err := user.Current(); err == nil {
		a.User = u.Username
	} else {
		a.User = "uid " + strconv.Itoa(os.Getuid())
	}
	a.Host, _ = os.Hostname() // without a name the audit has none
	ssh, _ := lookup("SSH_CONNECTION")
	if f := strings.Fields(ssh); len(f) >= 2 {
		a.SSH = net.JoinHostPort(f[0], f[1])
	}
	return a
}

const defaultIdentity = "{user}@{host}:{pid}"

// identityOf fills in the template of our label. A label that is too long loses the end of the host: the user and
// the process must stay.
func identityOf(template string, who operate.Actor) string {
	template = cmp.Or(template, defaultIdentity)
	host := plainASCII(who.Host)
	fill := func(host string) string {
		return strings.NewReplacer("{user}", plainASCII(who.User), "{host}", host, "{pid}", strconv.Itoa(os.Getpid())).Replace(template)
	}
	full := fill(host)
	if over := len(full) - config.MaxIdentity; over > 0 && strings.Contains(template, "{host}") {
		full = fill(host[:max(1, len(host)-over)])
	}
	return full[:min(len(full), config.MaxIdentity)]
}

// plainASCII replaces characters that no label may have by _, and an empty text by "unknown".
func plainASCII(s string) string {
	if s == "" {
		return "unknown"
	}
	return strings.Map(func(r rune) rune {
		if !config.InIdentity(r) {
			return '_'
		}
		return r
	}, s)
}
