package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/history/tables"
)

// statements is a tables.Database in one transaction. Its statements are unnamed, since a pooler may give the next
// transaction another session.
type statements struct {
	conn  *pgconn.PgConn
	queue *pgconn.Batch // statements of Change that are not sent yet; nil: Change sends them at once
}

// patience bounds each exchange with the server, beside statementTimeout, after which the server ends it.
const (
	patience         = 15 * time.Second
	statementTimeout = 10 * time.Second
	lockTimeout      = 3 * time.Second
	idleTimeout      = 3 * time.Second // of a transaction whose client is frozen or cut off: it has locked the row of the store
	readingTimeout   = time.Minute     // the same for one that locks nothing: its client may compute between two statements
)

// What a stranger wrote must not take all memory: the most bytes of a text, and about those of an answer without bodies,
// which are read one after the other.
const (
	longestText = 1 << 20
	mostBytes   = 256 << 20
	rowBytes    = 100
)

// Each implements tables.Database.
func (s statements) Each(ctx context.Context, text string, args, into []any, f func()) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.flush(ctx); err != nil {
		return err
	}
	text, values, formats, err := prepared(text, args)
	if err != nil {
		return err
	}
	rows := s.conn.ExecParams(ctx, text, values, nil, formats, []int16{binaryFormat})
	var failed error
	for size := 0; rows.NextRow(); size += rowBytes {
		for i, v := range rows.Values() {
			if rows.FieldDescriptions()[i].DataTypeOID != byteaType {
				size += len(v)
			}
		}
		if size > mostBytes {
			failed = tables.Damage("too many rows")
		}
		if failed != nil {
			continue // the rest of the answer must be read
		}
		if failed = scan(rows, into); failed == nil {
			f()
		}
	}
	if _, err := rows.Close(); err != nil {
		return err
	}
	return failed
}

// Change implements tables.Database.
func (s statements) Change(ctx context.Context, text string, args ...any) (changed int64, err error) {
	text, values, formats, err := prepared(text, args)
	if err != nil {
		return 0, err
	}
	if s.queue != nil {
		s.queue.ExecParams(text, values, nil, formats, nil)
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tag, err := s.conn.ExecParams(ctx, text, values, nil, formats, nil).Close()
	return tag.RowsAffected(), err
}

// flush sends the statements of the queue in one message.
func (s statements) flush(ctx context.Context) error {
	if s.queue == nil {
		return nil
	}
	batch := *s.queue
	*s.queue = pgconn.Batch{}
	return s.conn.ExecBatch(ctx, &batch).Close()
}

// commit sends the rest of the queue and commits.
func (s statements) commit() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.flush(ctx); err != nil {
		return err
	}
	results, err := s.conn.Exec(ctx, "commit").ReadAll()
	if err == nil && results[0].CommandTag.String() != "COMMIT" {
		err = fmt.Errorf("the server answered %s to a commit", results[0].CommandTag.String())
	}
	return err
}

// prepared returns a statement with its arguments as they are sent.
func prepared(text string, args []any) (out string, values [][]byte, formats []int16, err error) {
	out, used := numbered(text, args)
	values, formats = make([][]byte, len(used)), make([]int16, len(used))
	for i, arg := range used {
		if values[i], formats[i], err = encoded(arg); err != nil {
			return "", nil, nil, err
		}
	}
	return out, values, formats, nil
}

// numbered replaces the placeholders ? and ?1 of a statement with $1 and so on, and leaves out the arguments that
// it does not have.
func numbered(text string, args []any) (string, []any) {
	var b strings.Builder
	var used []any
	places := map[int]int{} // of the arguments in used, from 1 on
	for last := 0; ; {
		before, rest, found := strings.Cut(text, "?")
		if b.WriteString(before); !found {
			return b.String(), used
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil {
			n = last + 1
		}
		if last = n; places[n] == 0 {
			used = append(used, args[n-1])
			places[n] = len(used)
		}
		fmt.Fprintf(&b, "$%d", places[n])
		text = rest[digits:]
	}
}
