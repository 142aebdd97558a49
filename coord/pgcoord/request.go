package pgcoord

import (
	"context"
	"strconv"

	"coordtop/coord"
	"coordtop/internal/ground/pgwire"
)

// request is a claim with the key of its name.
type request struct {
	coord.Claim
	key Key
}

// call calls a lock function on the key, in the claim's mode, and returns its answer as text.
func (r request) call(ctx context.Context, conn *pgwire.Conn, function string) (string, error) {
	if r.Mode == coord.Shared {
		function += "_shared"
	}
	n, _ := r.key.Bigint()
	parameters, args := "($1::int8)", []string{itoa(n)}
	if a, b, pair := r.key.Pair(); pair {
		parameters, args = "($1::int4, $2::int4)", []string{itoa(int64(a)), itoa(int64(b))}
	}
	answer, err := single(ctx, conn, "select pg_catalog."+function+parameters, args...)
	return answer.Text(0), err
}

// row is one row of an answer, in text; nil for null.
type row = pgwire.Row

// query runs one statement with parameters, unprepared, so that it also works through poolers. It returns errors from
// classify.
func query(ctx context.Context, conn *pgwire.Conn, sql string, args ...string) ([]row, error) {
	rows, err := conn.Rows(ctx, sql, args...)
	return rows, classify(err)
}

// single calls query for a statement that answers one row.
func single(ctx context.Context, conn *pgwire.Conn, sql string, args ...string) (row, error) {
	r, err := conn.One(ctx, sql, args...)
	return r, classify(err)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
