package pgcoord

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// row is one row of an answer, in text; nil is null.
type row [][]byte

func (r row) text(i int) string { return string(r[i]) }

// query runs one statement with parameters, unprepared, so that it also works through
// poolers. The end of ctx closes the connection. Errors are tidy.
func query(ctx context.Context, conn *pgconn.PgConn, sql string, args ...string) ([]row, error) {
	params := make([][]byte, len(args))
	for i, a := range args {
		params[i] = []byte(a)
	}
	result := conn.ExecParams(ctx, sql, params, nil, nil, nil).Read()
	if result.Err != nil {
		return nil, tidy(result.Err)
	}
	rows := make([]row, len(result.Rows))
	for i, r := range result.Rows {
		rows[i] = r
	}
	return rows, nil
}

// single is query for a statement that answers with one row.
func single(ctx context.Context, conn *pgconn.PgConn, sql string, args ...string) (row, error) {
	rows, err := query(ctx, conn, sql, args...)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, fmt.Errorf("the answer has %d rows, not one", len(rows))
	}
	return rows[0], nil
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// array writes text values as one parameter of type text[].
func array(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
	}
	return "{" + strings.Join(quoted, ",") + "}"
}
