package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/ground/respwire"
	"coordtop/internal/ground/spawn"
)

// sentinels asks the Sentinels of the options, and no others, for the master of a name. It does not use the library's
// client for Sentinels, because that panics in its goroutines if a Sentinel's answer has another form. It is safe for
// concurrent use.
type sentinels struct {
	master string
	server redis.Options // options for a Sentinel, without its address
	addrs  []string
	dial   func(ctx context.Context, addr string) (respwire.Conn, error)
}

// MasterError is an error about the master that Sentinels named.
type MasterError struct {
	Addr string // host:port, as the Sentinels named it
	Err  error
}

// Error implements error.
func (e *MasterError) Error() string { return "the master at " + e.Addr + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *MasterError) Unwrap() error { return e.Err }

func newSentinels(o ClientOptions, server *redis.Options) *sentinels {
	s := &sentinels{master: o.Master, server: *server, addrs: o.Addrs, dial: o.dialer(server.TLSConfig)}
	s.server.DB, s.server.PoolSize = 0, 1
	s.server.Username, s.server.Password = o.SentinelUser, o.SentinelPassword
	return s
}

// dialMaster connects to the present master and returns its address.
func (s *sentinels) dialMaster(ctx context.Context) (conn respwire.Conn, addr string, err error) {
	if addr, _, err = s.ask(ctx); err != nil {
		return nil, "", err
	}
	if conn, err = s.dial(ctx, addr); err != nil {
		return nil, addr, &MasterError{addr, err}
	}
	return conn, addr, nil
}

// ask asks all Sentinels at the same time. It returns the master's address from the first answer, and the address of
// the Sentinel that gave it. It cuts the connections to the others and waits for their goroutines. If all fail, it
// joins their errors.
func (s *sentinels) ask(ctx context.Context) (master, from string, err error) {
	type answer struct {
		from, master string
		err          error
	}
	answers := make(chan answer, len(s.addrs))
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, addr := range s.addrs {
		spawn.Go(ctx, &running, func() {
			a := answer{from: addr}
			a.err = spawn.Call(ctx, func() (err error) {
				a.master, err = s.askOne(ctx, addr)
				return err
			})
			answers <- a
		})
	}
	var errs []error
	for range s.addrs {
		a := <-answers
		if a.err == nil {
			return a.master, a.from, nil
		}
		errs = append(errs, a.err)
	}
	return "", "", fmt.Errorf("asking the Sentinels: %w", errors.Join(errs...))
}

func (s *sentinels) askOne(ctx context.Context, addr string) (master string, err error) {
	client := s.client(addr)
	defer client.Close()
	defer spawn.OnDone(ctx, func() { client.Close() })()
	pair, err := client.Do(ctx, "SENTINEL", "get-master-addr-by-name", s.master).StringSlice()
	if err != nil {
		return "", fmt.Errorf("%s: %w", addr, err)
	}
	if len(pair) != 2 || !isAddress(pair[0], pair[1]) {
		return "", fmt.Errorf("%s answers with something that is not the address of a master: it is not a Sentinel", addr)
	}
	return net.JoinHostPort(pair[0], pair[1]), nil
}

// client returns a client of one Sentinel, which the caller closes.
func (s *sentinels) client(addr string) *redis.Client {
	o := s.server
	o.Addr = addr
	return redis.NewClient(&o)
}

// longestHost is the maximum length of a DNS name.
const longestHost = 253

func isAddress(host, port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return host != "" && len(host) <= longestHost && err == nil && n > 0
}
