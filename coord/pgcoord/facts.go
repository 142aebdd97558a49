package pgcoord

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/pgwire"
)

// facts are what a connection reports about itself.
type facts struct {
	pid      uint32 // of the server's process, which a pooler hides from the protocol
	start    time.Time
	database string
	standby  bool
	window   time.Duration
	version  int  // major
	pooled   bool // a pooler stands between
}

// settings are what every connection of ours sets, after connecting because poolers
// refuse most of them before. Waiting for a lock and owning it take as long as they take.
func settings(version int, ttl time.Duration, name string) [][2]string {
	keep := keepaliveFor(ttl)
	list := [][2]string{
		{"application_name", name},
		{"tcp_keepalives_idle", seconds(keep.idle)},
		{"tcp_keepalives_interval", seconds(keep.interval)},
		{"tcp_keepalives_count", strconv.Itoa(keep.count)},
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

// configure applies settings, and makes sure that it is their answer that comes. A server
// on a system that cannot watch its clients does without that.
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

// factsQuery is answered by every version; the settings of TCP are what the kernel says
// they are, 0 on a Unix socket.
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
		idle:     time.Duration(numbers[2]) * time.Second,
		interval: time.Duration(numbers[3]) * time.Second,
		count:    int(numbers[4]),
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
