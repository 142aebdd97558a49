package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord"
	"coordtop/coord/dflockcoord"
	"coordtop/coord/pgcoord"
	"coordtop/coord/rediscoord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// Task describes one candidate process.
type Task struct {
	Name    string // label of the process
	URL     string // of the server; its scheme names the backend
	Key     string
	Also    string // another election, which the leader of Key also leads; "": none
	Limit   uint64 // limit of a semaphore, if claims name it; 0: they do not
	Role    Role
	TTL     time.Duration // 0: the driver's choice
	Channel string        // channel on which a leader notifies, if the backend has channels; "": none
	Seed    uint64
}

// Argument returns the task as the argument of CandidateCommand.
func (t Task) Argument() string {
	text, _ := json.Marshal(t) // encoding texts and numbers never fails
	return string(text)
}

// The lines of a candidate for its parent.
const (
	saysOwns  = "owns" // followed by a blank and its owner id at the server
	saysWaits = "waits"
)

// RunCandidate executes the task in argument until ctx ends. Then it gives up what it owns, at once, or within a few
// seconds if the server is gone. It writes a line when it becomes an owner, and when that ends.
func RunCandidate(ctx context.Context, argument string, say io.Writer) error {
	var t Task
	if err := json.Unmarshal([]byte(argument), &t); err != nil {
		return fmt.Errorf("reading what to contend for: %w", err)
	}
	driver, err := t.driver()
	if err != nil {
		return fmt.Errorf("making the driver: %w", err)
	}
	c := &contender{driver: driver, task: t, say: say}
	if act := c.act(); act != nil {
		err = act(ctx)
	} else {
		err = fmt.Errorf("unknown role %q", t.Role)
	}
	if ctx.Err() != nil {
		err = nil
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return errors.Join(err, driver.Close(undo))
}

// driver makes the driver of the backend.
func (t Task) driver() (coord.Driver, error) {
	scheme, _, _ := strings.Cut(t.URL, ":")
	switch scheme {
	case "postgres":
		return pgcoord.New(t.URL, pgcoord.Options{})
	case "grpc":
		return ydbcoord.New(t.URL+"?node="+ydbNode, ydbcoord.Options{TTL: t.TTL})
	case "dflockd":
		client, err := dflockcoord.ParseURL(t.URL)
		if err != nil {
			return nil, err
		}
		return dflockcoord.New(client, dflockcoord.Options{Lease: t.TTL})
	}
	client, err := rediscoord.ParseURL(t.URL)
	if err != nil {
		return nil, err
	}
	return rediscoord.New(client, rediscoord.Options{TTL: t.TTL, RetryDelay: 500 * time.Millisecond})
}

// contender runs the task of one candidate.
type contender struct {
	driver coord.Driver
	task   Task
	say    io.Writer
}

// act returns the function of the candidate's role, which runs until its context ends; nil if the role is unknown.
func (c *contender) act() func(context.Context) error {
	return map[Role]func(context.Context) error{
		RoleLeader: c.lead, RoleDeputy: c.deputise, RoleWorker: c.work, RoleReader: c.work, RoleStaller: c.stall,
		RoleLeaker: c.leak, RoleScheduler: c.schedule, RolePublisher: c.publish, RolePool: c.pool, RoleService: c.serve,
	}[c.task.Role]
}

func (c *contender) session() coord.SessionOptions {
	return coord.SessionOptions{Description: c.task.Name, TTL: c.task.TTL}
}

func (c *contender) tell(line string) {
	// A parent that does not read any more has ended, and then the end of its pipe stops us.
	_, _ = fmt.Fprintln(c.say, line)
}

// owns tells the parent that this process owns the lease.
func (c *contender) owns(l *coord.Lease) { c.tell(saysOwns + " " + l.Owner()) }

// data returns the data for others: our name, and what we do. It returns nil if owners have no data on this backend.
func (c *contender) data(does ...string) []byte {
	if c.driver.Name() == "dflockd" {
		return nil
	}
	return []byte(strings.Join(append([]string{c.task.Name}, does...), " "))
}

// complain writes an error to the parent's log.
func complain(err error) { fmt.Fprintln(os.Stderr, "coordtop demo:", err) }

// lead leads for as long as it can, and leads Also for as long as it leads Key.
func (c *contender) lead(ctx context.Context) error {
	return coord.NewCandidate(c.driver, c.session(), c.task.Key, coord.LeadOptions{
		Data: c.data(),
		OnElected: func(ctx context.Context, term *coord.Term) error {
			c.owns(term.Lease())
			if c.task.Also != "" {
				return coord.NewCandidate(c.driver, c.session(), c.task.Also, coord.LeadOptions{Data: c.data()}).Run(ctx)
			}
			c.notify(ctx)
			return nil
		},
		OnLost: func(error) { c.tell(saysWaits) },
	}).Run(ctx)
}

// notifier is implemented by a driver whose service has channels.
type notifier interface {
	Notify(ctx context.Context, channel, payload string) error
}

// notify sends messages to the channel until ctx ends with the leadership.
func (c *contender) notify(ctx context.Context) {
	n, ok := c.driver.(notifier)
	if !ok || c.task.Channel == "" {
		return
	}
	pause := between(c.task.Seed, 2*time.Second, 6*time.Second)
	for batch := 1; backoff.Sleep(ctx, pause()) == nil; batch++ {
		if err := n.Notify(ctx, c.task.Channel, fmt.Sprintf("%s posted batch %d", c.task.Name, batch)); err != nil && ctx.Err() == nil {
			complain(err)
		}
	}
}

// deputise leads for some steps, proclaims each, resigns, and pauses.
func (c *contender) deputise(ctx context.Context) error {
	step := between(c.task.Seed, 4*time.Second, 9*time.Second)
	const steps = 4
	for ctx.Err() == nil {
		err := coord.Lead(ctx, c.driver, c.session(), c.task.Key, coord.LeadOptions{Data: c.data()},
			func(ctx context.Context, term *coord.Term) error {
				c.owns(term.Lease())
				defer c.tell(saysWaits)
				for n := 1; n <= steps && backoff.Sleep(ctx, step()) == nil; n++ {
					if err := term.Proclaim(ctx, fmt.Appendf(nil, "%s report=%d/%d", c.task.Name, n, steps)); err != nil {
						return err
					}
				}
				return nil
			})
		if errors.Is(err, coord.ErrRefused) {
			return err
		}
		_ = backoff.Sleep(ctx, step()) // the loop checks for the end of ctx
	}
	return nil
}

// work takes the mutex, keeps it for a while, and rests.
func (c *contender) work(ctx context.Context) error {
	o := coord.MutexOptions{Data: c.data()}
	pause := between(c.task.Seed, 2*time.Second, 8*time.Second)
	rest := pause
	if c.task.Role == RoleReader {
		o.Mode, pause = coord.Shared, between(c.task.Seed, 20*time.Second, 40*time.Second)
		rest = func() time.Duration { return time.Second } // so short that the lock nearly always has several owners
	}
	return c.sessions(ctx, func(ctx context.Context, s *coord.Session) error {
		for ctx.Err() == nil {
			c.shift(ctx, s.Mutex(c.task.Key, o), pause)
			_ = backoff.Sleep(ctx, rest()) // the loop checks for the end of ctx
		}
		return nil
	})
}

// shift takes the mutex once, keeps it for a pause and releases it.
func (c *contender) shift(ctx context.Context, m *coord.Mutex, pause func() time.Duration) {
	lease, err := m.Lock(ctx)
	if err == nil {
		c.owns(lease)
		working, stop := within(ctx, lease.Context())
		_ = backoff.Sleep(working, pause()) // or until the lease or the program ends
		stop()
		c.tell(saysWaits)
		err = lease.Release(ctx)
	}
	if err != nil && ctx.Err() == nil {
		complain(err)
	}
}

// within returns a context that ends when either of the two ends, or when stop is called.
func within(ctx, other context.Context) (both context.Context, stop context.CancelFunc) {
	both, cancel := context.WithCancel(other)
	unhook := spawn.OnDone(ctx, cancel)
	return both, func() {
		unhook()
		cancel()
	}
}

// leak behaves like a program that takes a lock on a connection of its pool, puts the connection back, and never
// unlocks. The lock lasts as long as the connection.
func (c *contender) leak(ctx context.Context) error {
	config, err := pgconn.ParseConfig(c.task.URL)
	if err != nil {
		return fmt.Errorf("reading the server's address: %w", err)
	}
	config.RuntimeParams["application_name"] = c.task.Name
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(undo) // it is broken already, or the server is about to stop
	}()
	taken := conn.ExecParams(ctx, "select pg_advisory_lock($1::text::bigint)", [][]byte{[]byte(c.task.Key)}, nil, nil, nil)
	if err := taken.Read().Err; err != nil {
		return fmt.Errorf("taking the lock: %w", err)
	}
	c.tell(saysOwns + " " + c.task.Name)
	return conn.WaitForNotification(ctx) // no notification comes, so it returns when ctx or the connection ends
}
