package pgsource

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/identify"
	"coordtop/internal/ground/pgwire"
	"coordtop/sources/kit"
)

// Endpoints implements kit.Examiner. It returns each server once, with the TLS settings that are tried first.
func (s *Source) Endpoints() (list []kit.Endpoint, err error) {
	first := &pgconn.FallbackConfig{Host: s.config.Host, Port: s.config.Port, TLSConfig: s.config.TLSConfig}
	for _, f := range append([]*pgconn.FallbackConfig{first}, s.config.Fallbacks...) {
		_, address := pgconn.NetworkAddress(f.Host, f.Port)
		if len(list) == 0 || list[len(list)-1].Address != address {
			list = append(list, kit.Endpoint{Address: address, TLS: f.TLSConfig, Hello: identify.SSLRequest, Optional: !onlyTLS(s.config)})
		}
	}
	return list, nil
}

// privilege is a right that our role may have.
type privilege struct {
	name, asks string // asks is an SQL expression
	grade      kit.Grade
	lost, fix  string // in fix, %s is the role
}

func privileges() []privilege {
	view := func(name string) string { return "pg_catalog.has_table_privilege('pg_catalog." + name + "', 'select')" }
	return []privilege{
		{"sessions of other roles (pg_monitor)", "pg_catalog.pg_has_role('pg_read_all_stats', 'usage')", kit.CheckWarned,
			"addresses, ages, states and queries of other roles' sessions; without their age they cannot be ended either", "GRANT pg_monitor TO %s"},
		{"pg_terminate_backend (pg_signal_backend)", "pg_catalog.pg_has_role('pg_signal_backend', 'usage')", kit.CheckWarned,
			"ending what other roles' sessions own or wait for", "GRANT pg_signal_backend TO %s"},
		{"pg_locks", view("pg_locks"), kit.CheckRefused, "all locks", "GRANT SELECT ON pg_catalog.pg_locks TO %s"},
		{"pg_stat_activity", view("pg_stat_activity"), kit.CheckRefused, "all owners", "GRANT SELECT ON pg_catalog.pg_stat_activity TO %s"},
		{"prepared transactions (pg_prepared_xacts)", view("pg_prepared_xacts"), kit.CheckWarned,
			"locks of prepared transactions", "GRANT SELECT ON pg_catalog.pg_prepared_xacts TO %s"},
		{"pg_blocking_pids", "pg_catalog.has_function_privilege('pg_catalog.pg_blocking_pids(integer)', 'execute')", kit.CheckWarned,
			"the server's own order of a queue: it is inferred", "GRANT EXECUTE ON FUNCTION pg_catalog.pg_blocking_pids TO %s"},
	}
}

// Examine implements kit.Examiner.
func (s *Source) Examine(ctx context.Context) (list []kit.Check, err error) {
	conn, err := pgwire.Open(ctx, pgwire.Options{Config: s.config, Dial: s.o.Dial})
	if err != nil {
		return nil, s.Explain(err, true)
	}
	defer conn.Close()
	list, err = examine(ctx, conn)
	return list, s.Explain(err, true)
}

func examine(ctx context.Context, conn *pgwire.Conn) (list []kit.Check, err error) {
	if err := conn.ReadOnly(ctx, clientName); err != nil {
		return nil, err
	}
	server, err := askServer(ctx, conn)
	if err != nil {
		return nil, err
	}
	sql := "select (extract(epoch from pg_catalog.clock_timestamp()) * 1000000)::bigint"
	for _, p := range privileges() {
		sql += ", " + p.asks
	}
	sent := time.Now()
	row, err := conn.One(ctx, sql)
	got := time.Now()
	list = append(list, kit.Check{Name: "login", Text: "as " + format.Clean(server.user, 63) + ", database " + format.Clean(server.database, 63)})
	if err != nil {
		return list, pgwire.Because(ctx, "asking for the rights of our role", err)
	}
	for i, p := range privileges() {
		c := kit.Check{Name: "right", Text: p.name}
		if row.Text(1+i) != "t" {
			c.Grade, c.Text, c.Lost, c.Fix = p.grade, p.name+" missing", p.lost, fmt.Sprintf(p.fix, pgwire.Identifier(format.Clean(server.user, 63)))
			if strings.Contains(p.fix, "pg_monitor") {
				c.Text = server.hides() // the same text as on the board
			}
		}
		list = append(list, c)
	}
	micros, err := strconv.ParseInt(row.Text(0), 10, 64)
	between := kit.Check{Name: "between", Text: cmp.Or(server.between(), conn.NAT())}
	if between.Grade = kit.CheckWarned; between.Text == "" {
		between.Grade, between.Text = kit.CheckPassed, "no pooler, and nothing changes our address on the way"
	}
	return append(list, between, kit.CheckClock(time.UnixMicro(micros), sent, got)), err
}
