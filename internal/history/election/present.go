package election

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"coordtop/internal/ground/pgwire"
	"coordtop/internal/history"
)

// Present is the present run of a store, and the queue of those that stand for election.
type Present struct {
	Run   int64 // 0: there was none
	Host  string
	PID   int
	Began time.Time     // by the clock of the server, as is
	Wrote time.Time     // the instant of its last write
	Age   time.Duration // of its last write
	Ended bool
	Lock  uint32 // process of the server whose session owned the lock when the run began or later; 0: none did

	Ahead    [2]time.Duration // how far the clock of the recorder is ahead of the server's: between the two
	Measured bool             // Ahead is known

	Refused int64       // Inputs of earlier runs that were refused
	Leader  Candidate   // that owns the lock; zero: nobody
	Standby []Candidate // that wait for it
}

// Candidate is a session that stands for election.
type Candidate struct {
	Process uint32 // of the server
	Name    string // of the recorder
}

// Recording reports whether the run has been written recently.
func (p *Present) Recording() bool { return p.recording(history.Lease) }

// recording has the age below zero for a write before the clock of the server was set back.
func (p *Present) recording(lease time.Duration) bool {
	return p.Run > 0 && !p.Ended && p.Age.Abs() < lease
}

// runQuery reads the present run of the schema in place of %s. Times and lengths are in microseconds.
const runQuery = `select r.id, left(r.host, 200), r.pid, (extract(epoch from r.begun) * 1000000)::bigint, (extract(epoch from r.wrote) * 1000000)::bigint,
	(extract(epoch from clock_timestamp() - r.wrote) * 1000000)::bigint, r.ended is not null, r.lock, r.ahead_least, r.ahead_most, (select sum(refused) from %[1]s.run)
	from %[1]s.store s join %[1]s.run r on r.id = s.run`

// locked selects the rows of pg_locks that are those of the election, whose name is $1. pg_locks has the halves of a
// key as unsigned numbers.
const locked = `l.locktype = 'advisory' and l.objsubid = 1 and l.database = (select oid from pg_database where datname = current_database())
	and l.classid::bigint = (hashtextextended($1::text, 0) >> 32) & 4294967295 and l.objid::bigint = hashtextextended($1::text, 0) & 4294967295`

// Codes of the server: there is no store, or one of an older version.
var noStore = []string{"3F000", "42P01", "42703"}

// look reads the present run of a schema, and who stands for election.
func look(ctx context.Context, conn *pgwire.Conn, schema string) (*Present, error) {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	p := &Present{}
	runs, err := conn.Rows(ctx, fmt.Sprintf(runQuery, pgwire.Identifier(schema)))
	if reply, is := errors.AsType[*pgwire.Reply](err); is && slices.Contains(noStore, reply.Code) {
		runs, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		p.Run, p.Host, p.PID, p.Began = number(r, 0), pgwire.Line(r.Text(1)), int(number(r, 2)), time.UnixMicro(number(r, 3))
		p.Wrote, p.Age, p.Ended, p.Lock = time.UnixMicro(number(r, 4)), micros(r, 5), r.Text(6) == "t", uint32(number(r, 7))
		p.Ahead, p.Refused = [2]time.Duration{micros(r, 8), micros(r, 9)}, number(r, 10)
		p.Measured = r[8] != nil
	}
	stand, err := conn.Rows(ctx, "select l.pid, l.granted, a.application_name from pg_locks l left join pg_stat_activity a on a.pid = l.pid where "+locked+" order by l.pid", lockName(schema))
	if err != nil {
		return nil, err
	}
	for _, r := range stand {
		c := Candidate{Process: uint32(number(r, 0)), Name: pgwire.Line(r.Text(2))}
		if r.Text(1) == "t" {
			p.Leader = c
		} else {
			p.Standby = append(p.Standby, c)
		}
	}
	return p, nil
}

// Ask connects and looks once.
func Ask(ctx context.Context, o Options) (*Present, error) {
	conn, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return look(ctx, conn, o.Schema)
}

func (o Options) connect(ctx context.Context) (*pgwire.Conn, error) {
	config, _, err := pgwire.Parse(o.Direct)
	if err != nil {
		return nil, err
	}
	password, err := o.password(ctx)
	if err != nil {
		return nil, err
	}
	pgwire.Override{Password: password}.Apply(config)
	config.RuntimeParams["application_name"] = "coordtop election"
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	return pgwire.Open(ctx, pgwire.Options{Config: config})
}

// number returns a column that is a whole number; 0 if it is null.
func number(r pgwire.Row, column int) int64 {
	n, _ := strconv.ParseInt(r.Text(column), 10, 64) // the server made it
	return n
}

func micros(r pgwire.Row, column int) time.Duration {
	return time.Duration(number(r, column)) * time.Microsecond
}
