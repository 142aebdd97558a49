package truth

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

// redisActor is many candidates for the keys of a Redis server, each with its own name. It
// writes as programs do: SET with NX and PX, and scripts that compare the value first.
type redisActor struct {
	*trial
	client *redis.Client
	rows   []*redisRow
}

type redisRow struct {
	name   string
	owner  string    // "": nobody, as far as known
	lo, hi time.Time // its lease ends in (lo, hi]
	lease  time.Duration
}

const (
	releaseScript = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) else return 0 end`
	renewScript   = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) else return 0 end`
)

func TestLinesOfRedisAreTrue(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	r := newTrial(t, server.Addr())
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), DisableIdentity: true, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	a := &redisActor{trial: r, client: client}
	for i := range 8 {
		a.rows = append(a.rows, &redisRow{name: fmt.Sprintf("app:leader:%d", i)}, &redisRow{name: fmt.Sprintf("app:lock:%d", i)})
	}
	for _, row := range a.rows[:4] {
		a.take(row, a.someone(row), time.Minute, true)
		r.history.rows[row.name][0].first = true
	}
	r.run(a, "redis://"+r.proxy.Addr()+"/0?election=app:leader:*&mutex=app:lock:*", false, rules{proved: true})
}

// someone is a candidate that does not own the row.
func (a *redisActor) someone(row *redisRow) string {
	for {
		if who := fmt.Sprintf("host-%d:4711", a.random.IntN(5)); who != row.owner {
			return who
		}
	}
}

// do sends a command and returns its answer, and when it was sent and answered.
func (a *redisActor) do(args ...any) (answer any, sent, answered time.Time) {
	a.t.Helper()
	sent = time.Now()
	answer, err := a.client.Do(context.Background(), args...).Result()
	answered = time.Now()
	if err != nil && err != redis.Nil {
		a.t.Fatalf("%v: %v", args[0], err)
	}
	return answer, sent, answered
}

func (a *redisActor) step() {
	row := a.rows[a.random.IntN(len(a.rows))]
	lease := time.Duration(300+a.random.IntN(3000)) * time.Millisecond
	if a.random.IntN(3) == 0 {
		lease = time.Minute
	}
	n := a.random.IntN(100)
	switch {
	case row.owner == "" || n < 8:
		a.take(row, a.someone(row), lease, true)
	case n < 40:
		a.release(row)
	case n < 75:
		a.renew(row, lease)
	case n < 83:
		a.take(row, a.someone(row), lease, false)
	case n < 93: // handed over at once
		a.release(row)
		a.take(row, a.someone(row), lease, true)
	default: // given up and taken again
		who := row.owner
		a.release(row)
		a.take(row, who, lease, true)
	}
}

// The server counts in milliseconds: a lease may end a little before and after.
const redisRounding = 3 * time.Millisecond

// take sets the key; try: only if nobody owns it.
func (a *redisActor) take(row *redisRow, who string, lease time.Duration, try bool) {
	args := []any{"SET", row.name, who, "PX", lease.Milliseconds()}
	if try {
		args = append(args, "NX")
	}
	answer, sent, answered := a.do(args...)
	if answer == nil { // somebody owns it
		a.alive(row, sent)
		return
	}
	if row.owner != "" && (try || !row.lo.After(answered)) {
		a.expired(row, answered, try)
	}
	if row.owner != "" {
		a.history.add(change{row: row.name, who: row.owner, id: row.owner, what: ends, from: sent, to: answered, cause: "replaced", leaseEnds: row.lo})
	}
	a.history.add(change{row: row.name, who: who, id: who, what: begins, from: sent, to: answered})
	row.owner, row.lease = who, lease
	row.leased(sent, answered)
}

func (row *redisRow) leased(sent, answered time.Time) {
	row.lo, row.hi = sent.Add(row.lease-redisRounding), answered.Add(row.lease+redisRounding)
}

// alive notes that the owner still owned the row after sent.
func (a *redisActor) alive(row *redisRow, sent time.Time) {
	if row.lo.Before(sent) {
		row.lo = sent
	}
}

// expired writes down that the lease has ended by itself, before answered. Where nobody can
// know whether it did so before a write, as sure is false, the stretch says so.
func (a *redisActor) expired(row *redisRow, answered time.Time, sure bool) {
	if !sure {
		a.history.add(change{row: row.name, who: row.owner, id: row.owner, what: ends, from: row.lo, to: answered})
		row.owner = ""
		return
	}
	to := row.hi
	if answered.Before(to) {
		to = answered
	}
	a.history.add(change{row: row.name, who: row.owner, id: row.owner, what: ends, from: row.lo, to: to, cause: "expired"})
	row.owner = ""
}

func (a *redisActor) release(row *redisRow) {
	answer, sent, answered := a.do("EVAL", releaseScript, 1, row.name, row.owner)
	if answer != int64(1) {
		a.expired(row, answered, true)
		return
	}
	a.history.add(change{row: row.name, who: row.owner, id: row.owner, what: ends, from: sent, to: answered, cause: "released", leaseEnds: row.lo})
	row.owner = ""
}

func (a *redisActor) renew(row *redisRow, lease time.Duration) {
	lease = max(lease, time.Second+time.Until(row.hi)).Truncate(time.Millisecond) // longer than what is left
	answer, sent, answered := a.do("EVAL", renewScript, 1, row.name, row.owner, lease.Milliseconds())
	if answer != int64(1) {
		a.expired(row, answered, true)
		return
	}
	a.history.add(change{row: row.name, who: row.owner, id: row.owner, what: renews, from: sent, to: answered})
	row.lease = lease
	row.leased(sent, answered)
}

// settle gives up what would end by itself.
func (a *redisActor) settle() {
	for _, row := range a.rows {
		if row.owner != "" && row.lease < time.Minute {
			a.release(row)
		}
	}
}
