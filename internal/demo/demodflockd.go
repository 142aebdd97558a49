package demo

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"coordtop/coord"
	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/ground/backoff"
)

const (
	dflockdPool  = "demo/worker-pool"
	dflockdQuery = "election=demo/leader/*&mutex=demo/lock/*&semaphore=" + dflockdPool

	poolLimit = 5
)

// dflockdContests are an election whose leader is replaced, a lock with many workers, a lock whose owner stops renewing
// now and then, and eight workers with five permits.
func dflockdContests() []contest {
	return []contest{
		{Task: Task{Key: "demo/leader/dispatch", Role: RoleLeader, TTL: 9 * time.Second}, names: hosts(14, 15, 16), replaceEvery: seconds(45, 90)},
		{Task: Task{Key: "demo/lock/upload", Role: RoleWorker, TTL: 9 * time.Second}, names: []string{"upload-a", "upload-b", "upload-c", "upload-d"}},
		{Task: Task{Key: "demo/lock/thumbnails", Role: RoleStaller, TTL: 9 * time.Second}, names: []string{"thumbnails-a", "thumbnails-b"}},
		{Task: Task{Key: dflockdPool, Limit: poolLimit, Role: RolePool, TTL: 9 * time.Second}, names: []string{"pool-a", "pool-b"}},
	}
}

func startDflockd(ctx context.Context, port int) (server, error) {
	if port == 6388 {
		return nil, fmt.Errorf("starting the dflockd emulator: %d is the standard port: choose another", port)
	}
	s, err := dflocktest.Start(dflocktest.Options{
		Listen: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), // 0: any
		Guard:  guard(ctx),
	})
	if err != nil {
		return nil, fmt.Errorf("starting the dflockd emulator: %w", err)
	}
	return emulator{"dflockd://" + s.Addr(), s}, nil
}

// stall takes the mutex again and again, and every third time stops renewing it, so that the lease expires.
func (c *contender) stall(ctx context.Context) error {
	pause := between(c.task.Seed, 6*time.Second, 14*time.Second)
	turns := 0
	return c.sessions(ctx, func(turn context.Context, s *coord.Session) error {
		m := s.Mutex(c.task.Key, coord.MutexOptions{Data: c.data()})
		if turns++; turns%3 != 0 {
			c.shift(turn, m, pause)
		} else if _, err := m.Lock(turn); err != nil {
			return err
		} else if backoff.Sleep(turn, pause()) == nil {
			s.Abandon()
		}
		_ = backoff.Sleep(ctx, pause()) // or until the demo ends
		return nil
	})
}
