package pgsource

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// statement is a query whose answer is read row by row in the binary format. Where no
// pooler lends our server session to others it is prepared once.
type statement struct {
	name, sql string
	prepared  bool
}

func (s *statement) prepare(ctx context.Context, conn *pgconn.PgConn) error {
	_, err := conn.Prepare(ctx, s.name, s.sql, nil)
	s.prepared = err == nil
	return err
}

var binaryFormat = []int16{1}

// run sends the statement and hands every row to each. Parameters are text.
func (s *statement) run(ctx context.Context, conn *pgconn.PgConn, params [][]byte, each func(fields) error) error {
	var r *pgconn.ResultReader
	if s.prepared {
		r = conn.ExecPrepared(ctx, s.name, params, nil, binaryFormat)
	} else {
		r = conn.ExecParams(ctx, s.sql, params, nil, nil, binaryFormat)
	}
	var bad error
	for r.NextRow() {
		if bad == nil {
			bad = each(fields(r.Values()))
		}
	}
	if _, err := r.Close(); err != nil {
		return err
	}
	return bad
}

// fields is one row in the binary format. It is valid until the next row is read.
type fields [][]byte

// pgEpoch is where Postgres' timestamps begin, in Unix microseconds: 2000-01-01 UTC.
const pgEpoch = 946_684_800_000_000

func (f fields) null(i int) bool   { return f[i] == nil }
func (f fields) text(i int) string { return string(f[i]) }
func (f fields) yes(i int) bool    { return len(f[i]) == 1 && f[i][0] == 1 }

func (f fields) number16(i int) uint16 {
	if len(f[i]) != 2 {
		return 0
	}
	return binary.BigEndian.Uint16(f[i])
}

// number32 reads an int4 or oid; 0 for null.
func (f fields) number32(i int) uint32 {
	if len(f[i]) != 4 {
		return 0
	}
	return binary.BigEndian.Uint32(f[i])
}

// micros reads a timestamptz as Unix microseconds; 0 for null.
func (f fields) micros(i int) int64 {
	if len(f[i]) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(f[i])) + pgEpoch
}

// ask runs a statement that answers one row of text.
func ask(ctx context.Context, conn *pgconn.PgConn, sql string, params ...string) ([]string, error) {
	values := make([][]byte, len(params))
	for i, p := range params {
		values[i] = []byte(p)
	}
	result := conn.ExecParams(ctx, sql, values, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, result.Err
	}
	if len(result.Rows) != 1 {
		return nil, fmt.Errorf("%d rows came where one was asked for", len(result.Rows))
	}
	row := make([]string, len(result.Rows[0]))
	for i, v := range result.Rows[0] {
		row[i] = string(v)
	}
	return row, nil
}

// array writes an int4[] as text.
func array(dst []byte, list []uint32) []byte {
	dst = append(dst, '{')
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(n), 10)
	}
	return append(dst, '}')
}
