package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/failure"
	"coordtop/internal/history"
	"coordtop/internal/history/tables"
)

// Reader reads a store. It is safe for concurrent use. It connects when it is asked, and again after an error.
type Reader struct {
	tables.Reader
	o    Options
	idle chan *pgconn.PgConn // its connections that nobody uses
	free chan struct{}       // an element for each connection that may still be opened
}

// connections is the most connections of a Reader.
const connections = 2

// NewReader returns a Reader of a store.
func NewReader(o Options) *Reader {
	r := &Reader{o: o, idle: make(chan *pgconn.PgConn, connections), free: make(chan struct{}, connections)}
	for range connections {
		r.free <- struct{}{}
	}
	r.Ask = r.ask
	return r
}

// Close closes the connections that nobody uses. The next query opens one again.
func (r *Reader) Close() (err error) {
	for {
		select {
		case conn := <-r.idle:
			ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
			err = errors.Join(err, conn.Close(ctx))
			cancel()
			r.free <- struct{}{}
		default:
			return err
		}
	}
}

// acquire returns a connection, which give takes back.
func (r *Reader) acquire(ctx context.Context) (conn *pgconn.PgConn, kept bool, err error) {
	select {
	case conn = <-r.idle:
		return conn, true, nil
	default:
	}
	select {
	case conn = <-r.idle:
		return conn, true, nil
	case <-r.free:
		if conn, err = r.o.connect(ctx); err != nil {
			r.free <- struct{}{}
		}
		return conn, false, err
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

func (r *Reader) give(conn *pgconn.PgConn) {
	if conn.IsClosed() {
		r.free <- struct{}{}
		return
	}
	r.idle <- conn
}

// ask runs f in one transaction, so that all its statements see the same state.
func (r *Reader) ask(ctx context.Context, f func(*tables.Query) error) error {
	for {
		conn, kept, err := r.acquire(ctx)
		if err != nil {
			return failure.With(err, ctx.Err())
		}
		row, err := r.o.begin(ctx, conn, reading, "select version, readers, exists(select 1 from run where id = (select run from store) and ended is null and wrote - clock_timestamp() between -"+
			fmt.Sprintf("interval '%[1]d seconds' and interval '%[1]d seconds'), (select coalesce(min(right(c.relname, 8)), '') from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = to_regclass('term')), "+
				"(select (extract(epoch from clock_timestamp()) * 1000000)::bigint + coalesce((ahead_least + ahead_most) / 2, 0) from run where id = store.run) from %s.store", int(history.Silence.Seconds()), r.o.Name()))
		if err != nil && kept && conn.IsClosed() && ctx.Err() == nil { // the server closed it meanwhile
			r.give(conn)
			continue
		}
		if err == nil {
			err = r.answer(row, conn, f)
		}
		rollback(conn)
		r.give(conn)
		return failure.With(Explained(r.o, err), ctx.Err())
	}
}

// answer runs f if the tables can be read. row is what begin has returned.
func (r *Reader) answer(row []string, conn *pgconn.PgConn, f func(*tables.Query) error) error {
	var has, reads int
	if len(row) == 5 {
		_, _ = fmt.Sscan(row[0]+" "+row[1], &has, &reads) // zero is refused below
	}
	if has == 0 {
		return fmt.Errorf("the store %s: %w", r.o.Place(), history.ErrNothing)
	}
	if reads > version {
		return failure.Sentence("the store "+r.o.Place()+": "+newer, history.ErrNewer)
	}
	q := &tables.Query{Statements: tables.Statements{DB: statements{conn: conn}}, Live: row[2] == "t", Blocks: true, Clocks: true}
	if first, err := time.Parse(dayFormat, row[3]); err == nil {
		q.Index = &tables.TermIndex{Since: first.UnixNano(), Terms: termsOf}
	}
	if micros, err := strconv.ParseInt(row[4], 10, 64); err == nil && q.Live {
		if now := time.UnixMicro(micros); time.Until(now).Abs() >= history.SameClock {
			q.Now = now
		}
	}
	return f(q)
}
