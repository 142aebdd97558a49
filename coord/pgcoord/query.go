package pgcoord

import (
	"context"
	"strconv"

	"coordtop/internal/ground/pgwire"
)

// row is one row of an answer, in text; nil is null.
type row = pgwire.Row

// query runs one statement with parameters, unprepared, so that it also works through
// poolers. Errors are tidy.
func query(ctx context.Context, conn *pgwire.Conn, sql string, args ...string) ([]row, error) {
	rows, err := conn.Rows(ctx, sql, args...)
	return rows, classify(err)
}

// single is query for a statement that answers with one row.
func single(ctx context.Context, conn *pgwire.Conn, sql string, args ...string) (row, error) {
	r, err := conn.One(ctx, sql, args...)
	return r, classify(err)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
