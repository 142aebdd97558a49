package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
)

// CandidateOptions say what one candidate process contends for.
type CandidateOptions struct {
	URL  string // of the server
	Key  string
	Role Role
	TTL  time.Duration
	Seed uint64
}

// What a candidate tells its parent, a line each.
const (
	saysOwns  = "owns"
	saysWaits = "waits"
)

// RunCandidate contends until ctx ends, then gives up what it owns, within a second.
// It writes to say, a line each, when it begins and stops owning.
func RunCandidate(ctx context.Context, o CandidateOptions, say io.Writer) error {
	client, err := rediscoord.ParseURL(o.URL)
	if err != nil {
		return fmt.Errorf("reading the server's address: %w", err)
	}
	driver, err := rediscoord.New(client, rediscoord.Options{TTL: o.TTL, RetryDelay: time.Second})
	if err != nil {
		return fmt.Errorf("making the driver: %w", err)
	}
	c := &contender{driver: driver, options: o, say: say, identity: identity()}
	switch o.Role {
	case RoleLeader:
		err = c.lead(ctx)
	case RoleDeputy:
		err = c.deputise(ctx)
	case RoleWorker:
		err = c.work(ctx)
	default:
		err = fmt.Errorf("unknown role %q", o.Role)
	}
	if ctx.Err() != nil {
		err = nil
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return errors.Join(err, driver.Close(undo))
}

// identity is host:pid, which is what tells candidates on several machines apart.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}

// contender is one candidate at work.
type contender struct {
	driver   coord.Driver
	options  CandidateOptions
	say      io.Writer
	identity string
}

func (c *contender) session() coord.SessionOptions {
	return coord.SessionOptions{Description: c.identity, TTL: c.options.TTL}
}

func (c *contender) tell(line string) {
	// A parent that does not read any more has died; its pipe's end stops us.
	_, _ = fmt.Fprintln(c.say, line)
}

// lead leads for as long as it can.
func (c *contender) lead(ctx context.Context) error {
	return coord.NewCandidate(c.driver, c.session(), c.options.Key, coord.LeadOptions{
		Data:      []byte(c.identity),
		OnElected: func(context.Context, *coord.Term) error { c.tell(saysOwns); return nil },
		OnLost:    func(error) { c.tell(saysWaits) },
	}).Run(ctx)
}

// deputise leads for some steps, proclaims each, resigns, and stands back for a while.
func (c *contender) deputise(ctx context.Context) error {
	step := between(c.options.Seed, 4*time.Second, 9*time.Second)
	const steps = 4
	for ctx.Err() == nil {
		err := coord.Lead(ctx, c.driver, c.session(), c.options.Key, coord.LeadOptions{Data: []byte(c.identity)},
			func(ctx context.Context, term *coord.Term) error {
				c.tell(saysOwns)
				defer c.tell(saysWaits)
				for n := 1; n <= steps && sleep(ctx, step()); n++ {
					if err := term.Proclaim(ctx, fmt.Appendf(nil, "%s report=%d/%d", c.identity, n, steps)); err != nil {
						return err
					}
				}
				return nil
			})
		if errors.Is(err, coord.ErrRefused) {
			return err
		}
		sleep(ctx, step())
	}
	return nil
}

// work takes the mutex, holds it for a while, and rests.
func (c *contender) work(ctx context.Context) error {
	pause := between(c.options.Seed, 2*time.Second, 8*time.Second)
	for s, err := range coord.Sessions(ctx, c.driver, c.session()) {
		if err != nil {
			return err
		}
		for ctx.Err() == nil && s.Context().Err() == nil {
			c.shift(ctx, s, pause)
		}
	}
	return nil
}

// shift is one turn with the mutex.
func (c *contender) shift(ctx context.Context, s *coord.Session, pause func() time.Duration) {
	lease, err := s.Mutex(c.options.Key, coord.MutexOptions{Data: []byte(c.identity)}).Lock(ctx)
	if err == nil {
		c.tell(saysOwns)
		working, stop := context.WithCancel(lease.Context())
		unhook := context.AfterFunc(ctx, stop)
		sleep(working, pause())
		unhook()
		stop()
		c.tell(saysWaits)
		err = lease.Release(ctx)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "coordtop demo:", err)
	}
	sleep(ctx, pause())
}
