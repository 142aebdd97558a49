package redissource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/glob"
	"coordtop/sources/kit"
)

// Endpoints implements kit.Examiner. It returns the server, or the Sentinels.
func (s *Source) Endpoints() ([]kit.Endpoint, error) {
	options, _, err := rediscoord.NewServer(s.o.Client)
	if err != nil {
		return nil, err
	}
	return kit.Endpoints(options.TLSConfig, s.o.Client.Addrs...), nil
}

// Examine implements kit.Examiner. A command that the user may not send adds an entry to the ACL LOG.
func (s *Source) Examine(ctx context.Context) (list []kit.Check, err error) {
	d, err := newDialer(s.o.Client)
	if err != nil {
		return nil, err
	}
	e := &examination{link: newLink(ctx, &s.o, s.selected, d), user: format.Clean(cmp.Or(s.o.Client.User, "default"), 100)}
	defer e.link.Close()
	if err = e.link.enter(ctx); err == nil {
		e.add("login", kit.CheckPassed, "as "+e.user)
		err = e.run(ctx)
	}
	return e.list, s.Explain(e.link.ofMaster(err), true)
}

// examination finds out a user's rights. If one of its methods returns an error, the connection has ended.
type examination struct {
	link *link
	user string
	key  string // the key on which the commands are tried
	real bool   // key exists, and may be read or all are known to be refused
	fix  string // the ACL rule that grants the right to key
	list []kit.Check
}

func (e *examination) add(name string, grade kit.Grade, text string) {
	e.list = append(e.list, kit.Check{Name: name, Grade: grade, Text: text})
}

// unused is a name that no key has, so that a command on it reads nobody's data.
const unused = "coordtop-doctor"

// right is a group of commands that one feature needs. A | joins a command of two words, and KEY
// stands for a key.
type right struct {
	commands string
	grade    kit.Grade // the grade if one is refused
	lost     string
	needed   bool
}

func (s *selection) rights() []right {
	patterns, wildcards := s.guess || len(s.globs) > 0, s.guess || !s.pushPlan(nil).all
	return []right{
		{"ping", kit.CheckRefused, "everything", true},
		{"scan 0 COUNT 1", kit.CheckRefused, "keys that are not named one by one", patterns},
		{"pttl KEY, strlen KEY, getrange KEY 0 0", kit.CheckRefused, "all owners", true},
		{"client|tracking ON BCAST PREFIX " + unused, kit.CheckWarned, "changes at their instant: keys are polled, unless keyspace events tell them", true},
		{"client|id, client|caching YES", kit.CheckWarned, "pushes of keys whose pattern begins with a wildcard", wildcards},
		{"type KEY, hlen KEY, hgetall KEY, object|encoding KEY", kit.CheckWarned, "locks that are kept in hashes, as those of Redisson", true},
		{"zcard KEY, zrange KEY 0 0", kit.CheckWarned, "locks and semaphores that are kept in sorted sets", true},
		{"lrange KEY 0 0, llen KEY, hget KEY x, pubsub|numsub " + unused, kit.CheckWarned, "who waits, fences and free permits, where a library tells them", true},
		{"info server, role", kit.CheckWarned, "version, latency, clock, restarts and whether this is a replica", true},
		{"dbsize", kit.CheckWarned, "how many keys there are", s.guess},
		{"client|setname " + clientName + ", client|no-touch ON", kit.CheckWarned, "our name in CLIENT LIST, and reading that does not count as use", true},
		{"client|info", kit.CheckWarned, "whether a proxy or NAT stands between", true},
	}
}

func (e *examination) run(ctx context.Context) (err error) {
	e.key, err = e.link.mayRead(ctx)
	noRead, denied := errors.AsType[*noReadError](err)
	if err != nil && !denied && !errors.Is(err, errNoScan) {
		return err
	}
	if e.real = e.key != ""; !e.real {
		prefix, _ := glob.Pattern(e.link.selected.scanPattern()).Literal()
		e.key = prefix + unused
	}
	if denied && noRead.lacks == allRights {
		e.fix = " %R~" + e.key
	}
	for _, r := range e.link.selected.rights() {
		if err := e.try(ctx, r); err != nil {
			return err
		}
	}
	if err := e.events(ctx); err != nil {
		return err
	}
	return e.server(ctx)
}

// try sends the commands of a right.
func (e *examination) try(ctx context.Context, r right) error {
	if !r.needed {
		return nil
	}
	c := kit.Check{Name: "right"}
	var missing []string
	for command := range strings.SplitSeq(r.commands, ", ") {
		words := strings.Fields(command)
		var args []any
		for _, word := range slices.Concat(strings.Split(words[0], "|"), words[1:]) {
			if word == "KEY" {
				word = e.key
			}
			args = append(args, word)
		}
		_, err := rediscoord.Once(e.link.refusals(), words[0], func() (any, error) { return e.link.conn.Do(ctx, args...).Result() })
		switch c.Text += "+" + words[0] + " "; {
		case redis.IsPermissionError(err):
			missing = append(missing, "+"+words[0])
		case fatal(err):
			return err
		}
	}
	if c.Text = strings.TrimSpace(c.Text); len(missing) > 0 {
		c.Grade, c.Lost, c.Text = r.grade, r.lost, strings.Join(missing, " ")
		c.Fix = "ACL SETUSER " + format.ShellWord(e.user) + " " + c.Text
		if c.Text += " missing"; strings.Contains(r.commands, "KEY") {
			c.Text, c.Fix = c.Text+", as tried on "+format.Clean(e.key, 200), c.Fix+format.Clean(e.fix, 200)
			if !e.real && len(missing) == strings.Count(r.commands, "KEY") {
				c.Grade = kit.CheckWarned // perhaps only this name is refused
			}
		}
	}
	e.list = append(e.list, c)
	return nil
}

// events tries keyspace events, the fallback if tracking is refused.
func (e *examination) events(ctx context.Context) error {
	patterns := e.link.selected.pushPlan(nil).patterns
	if len(patterns) == 0 {
		patterns = []string{unused}
	}
	c, why, err := e.link.tryEvents(ctx, patterns)
	switch {
	case err != nil:
		return err
	case c != nil:
		c.close()
		e.add("events", kit.CheckPassed, "keyspace events can be subscribed to")
	case e.link.refusals().Refused("client|tracking") != nil:
		e.add("events", kit.CheckWarned, why)
	default:
		e.add("events", kit.CheckPassed, "not needed while tracking works: "+why)
	}
	return nil
}

// server compares the server's clock with ours, and the address at which the server sees us with our own.
func (e *examination) server(ctx context.Context) error {
	sent := time.Now()
	info, err := e.link.info("server")
	if micros, bad := strconv.ParseInt(info["server_time_usec"], 10, 64); bad == nil {
		e.list = append(e.list, kit.CheckClock(time.UnixMicro(micros), sent, time.Now()))
	}
	if err != nil || e.link.refusals().Refused("client|info") != nil {
		return err
	}
	client, err := e.link.conn.ClientInfo(ctx).Result()
	switch ours := e.link.reads.net.LocalAddr(); {
	case fatal(err):
		return err
	case err != nil || ours.Network() != "tcp": // before 6.2, or a Unix socket
	case client.Addr != ours.String():
		e.add("between", kit.CheckWarned, fmt.Sprintf("a proxy or NAT stands between: the server sees us at %s, our end is %v", format.Clean(client.Addr, 100), ours))
	default:
		e.add("between", kit.CheckPassed, "nothing changes our address on the way")
	}
	return nil
}
