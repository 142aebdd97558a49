package pgcoord

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/pgwire"
)

// facts are properties of a connection, as the server reports them.
type facts struct {
	pid      uint32 // of the server's process, not from the protocol, where a pooler hides it
	start    time.Time
	database string
	standby  bool
	window   time.Duration
	version  int  // major
	pooled   bool // a pooler stands between
}

// keepalive makes a TCP connection find out that its other end is gone: after Idle without traffic it sends a probe
// every Interval, and gives up after Count of them without an answer. Idle and Interval are whole seconds, at least
// one. The client also sets it on its side, because a claim in the queue sends nothing and would not notice otherwise
// that its server is gone.
type keepalive net.KeepAliveConfig

// keepaliveFor divides a time between the three settings, rounded up to whole seconds. The minimum is 2 s. 11 s become
// 5, 2 and 3.
func keepaliveFor(ttl time.Duration) keepalive {
	seconds := max(int((ttl+time.Second-1)/time.Second), 2)
	interval := max(seconds/5, 1)
	count := min(3, (seconds-1)/interval)
	return keepalive{
		Enable:   true,
		Idle:     time.Duration(seconds-interval*count) * time.Second,
		Interval: time.Duration(interval) * time.Second,
		Count:    count,
	}
}

// budget returns the time from the last traffic to giving up.
func (k keepalive) budget() time.Duration { return k.Idle + time.Duration(k.Count)*k.Interval }

// window returns how long we trust a grant: the TTL, or the time for which the server keeps a session that it cannot
// reach any more, if that is shorter. The server's time is that of the keepalives. If a user time-out is set, it is
// that, because it overrides the keepalives' count and the number of retransmissions (tcp_keepalive_timer and
// tcp_write_timeout of the Linux kernel). Without such settings, for example on a Unix socket, the server keeps the
// session without limit.
func (k keepalive) window(ttl, userTimeout time.Duration) time.Duration {
	return min(ttl, cmp.Or(max(userTimeout, 0), max(k.budget(), 0), ttl))
}

// settings returns the settings of every connection of ours. They are set after connecting, because poolers refuse most
// of them in the start-up message. Time-outs are off, so that waiting for a lock and owning it may take any time.
func settings(version int, ttl time.Duration, name string) [][2]string {
	keep := keepaliveFor(ttl)
	list := [][2]string{
		{"application_name", name},
		{"tcp_keepalives_idle", seconds(keep.Idle)},
		{"tcp_keepalives_interval", seconds(keep.Interval)},
		{"tcp_keepalives_count", strconv.Itoa(keep.Count)},
		{"tcp_user_timeout", strconv.FormatInt(keep.budget().Milliseconds(), 10)},
		{"statement_timeout", "0"},
		{"lock_timeout", "0"},
	}
	if version >= 14 {
		list = append(list, [2]string{"idle_session_timeout", "0"}, [2]string{"client_connection_check_interval", "1000"})
	}
	if version >= 17 {
		list = append(list, [2]string{"transaction_timeout", "0"})
	}
	return list
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

// configure applies settings, and checks that the answer belongs to them. If the server's system does not support
// client_connection_check_interval, it leaves that out.
func configure(ctx context.Context, conn *pgwire.Conn, list [][2]string) error {
	var calls []string
	var values []string
	for _, s := range list {
		values = append(values, s[1])
		calls = append(calls, fmt.Sprintf("pg_catalog.set_config('%s', $%d, false)", s[0], len(values)))
	}
	rows, err := query(ctx, conn, "select "+strings.Join(calls, ", "), values...)
	if last := len(list) - 1; hasState(err, stateInvalidValue, stateUnknownParam) {
		for i, s := range list {
			if s[0] == "client_connection_check_interval" {
				list[i] = list[last]
				return configure(ctx, conn, list[:last])
			}
		}
	}
	if err != nil {
		return fmt.Errorf("configuring the session: %w", err)
	}
	if len(rows) != 1 || len(rows[0]) != len(list) || rows[0].Text(0) != list[0][1] {
		return fmt.Errorf("configuring the session: %w", pgwire.ErrOutOfStep)
	}
	return nil
}

// factsQuery works on every version. It reads the TCP settings from the kernel; they are 0 on a Unix socket.
const factsQuery = `select pg_catalog.pg_backend_pid(), pg_catalog.current_database(), pg_catalog.pg_is_in_recovery(),
 (select (extract(epoch from backend_start) * 1000000)::bigint from pg_catalog.pg_stat_activity where pid = pg_catalog.pg_backend_pid()),
 current_setting('tcp_keepalives_idle'), current_setting('tcp_keepalives_interval'), current_setting('tcp_keepalives_count'),
 current_setting('tcp_user_timeout')`

// configureAndRead configures a connection for a TTL under a name and reads its facts.
func configureAndRead(ctx context.Context, conn *pgwire.Conn, ttl time.Duration, name string) (facts, error) {
	version := conn.Major()
	if err := configure(ctx, conn, settings(version, ttl, name)); err != nil {
		return facts{}, err
	}
	row, err := single(ctx, conn, factsQuery)
	if err != nil {
		return facts{}, fmt.Errorf("asking the server about itself: %w", err)
	}
	numbers := make([]int64, 0, 6)
	for _, i := range []int{0, 3, 4, 5, 6, 7} {
		n, err := strconv.ParseInt(row.Text(i), 10, 64)
		if err != nil && row[i] != nil {
			return facts{}, fmt.Errorf("asking the server about itself: %w", err)
		}
		numbers = append(numbers, n)
	}
	keep := keepalive{
		Idle:     time.Duration(numbers[2]) * time.Second,
		Interval: time.Duration(numbers[3]) * time.Second,
		Count:    int(numbers[4]),
	}
	f := facts{
		pid:      uint32(numbers[0]),
		database: row.Text(1),
		standby:  row.Text(2) == "t",
		window:   keep.window(ttl, time.Duration(numbers[5])*time.Millisecond),
		version:  version,
		pooled:   conn.Pooler() != pgwire.None,
	}
	if row[3] != nil {
		f.start = time.UnixMicro(numbers[1])
	}
	return f, nil
}
