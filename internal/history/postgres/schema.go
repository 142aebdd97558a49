package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/failure"
	"coordtop/internal/history"
	"coordtop/internal/history/tables"
)

// The version of the schema, and the lowest version that can read our tables.
const (
	version = 5
	readers = 1
)

// stepTimeout bounds the change to our version: an index of a month of terms takes a minute.
const stepTimeout = 10 * time.Minute

//go:embed schema.sql
var first string

// Dashboard is a dashboard for Grafana that reads the views.
//
//go:embed dashboard.json
var Dashboard string

// steps brings a schema from version n to n+1.
func steps() []string {
	return []string{first, `alter table audit add column line text not null default '';`, `drop table note, acknowledgement, mute;`,
		// An index of a column that many rows share is small, and so is one of blocks of rows that are in order.
		`alter table event drop constraint event_pkey; drop index event_lane, term_until; create index event_lane on event(lane); create index term_until on term using brin(until);`,
		`alter table store add column fills bigint not null default 0;`}
}

// versionOf reads the version of the schema; 0: there are no tables.
func versionOf(ctx context.Context, s statements, schema string) (has, reads int, err error) {
	found := false
	err = s.Each(ctx, "select exists(select 1 from pg_class where relnamespace = (select oid from pg_namespace where nspname = ?) and relname = 'store')", []any{schema}, []any{&found}, func() {})
	if err == nil && found {
		err = s.Each(ctx, "select version, readers from "+schema+".store", nil, []any{&has, &reads}, func() {})
		if err == nil && has <= 0 {
			err = tables.Damage("the version of the store")
		}
	}
	return has, reads, err
}

// migrate makes the tables, or brings them to our version, in one transaction. For newer tables it returns
// history.ErrNewer.
func (o Options) migrate(ctx context.Context, conn *pgconn.PgConn) (err error) {
	s := statements{conn: conn}
	for _, changes := range []bool{false, true} { // most often the first, which changes nothing, is enough
		more := "select 1"
		if changes {
			more = fmt.Sprintf("select pg_advisory_xact_lock(hashtext('coordtop %s'))", o.Name())
		}
		if _, err = o.begin(ctx, conn, writing, more); err != nil {
			break
		}
		var has int
		if has, _, err = versionOf(ctx, s, o.Name()); err != nil {
			break
		}
		if has >= version || changes {
			if err = o.step(ctx, conn, s, has); err == nil {
				err = s.commit()
			}
			break
		}
		rollback(conn)
	}
	if err != nil {
		rollback(conn)
	}
	return err
}

func (o Options) step(ctx context.Context, conn *pgconn.PgConn, s statements, has int) error {
	if has == version {
		return nil
	}
	if has > version {
		return failure.Sentence("the store "+o.Place()+": "+newer+", or set history.url to another database", history.ErrNewer)
	}
	var text strings.Builder
	if has == 0 {
		exists := false
		if err := s.Each(ctx, "select exists(select 1 from pg_namespace where nspname = ?)", []any{o.Name()}, []any{&exists}, func() {}); err != nil {
			return err
		}
		if !exists {
			fmt.Fprintf(&text, "create schema %s; set local search_path = %[1]s, pg_catalog; ", o.Name())
		}
	}
	for _, step := range steps()[has:] {
		text.WriteString(step)
	}
	if has == 0 {
		fmt.Fprintf(&text, "insert into store values(0, %d, %d, md5(random()::text || clock_timestamp()::text)::uuid, 0)", version, readers)
	} else {
		fmt.Fprintf(&text, "update store set version = %d, readers = %d", version, readers)
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	_, err := conn.Exec(ctx, fmt.Sprintf("set local statement_timeout = %d; %s", stepTimeout.Milliseconds(), text.String())).ReadAll()
	return err
}
