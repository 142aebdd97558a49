package tables

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"coordtop/internal/history"
	"coordtop/sources/tape"
)

// Database runs statements, which have placeholders ? or ?1, ?2 and so on. f of Each must not run another statement.
type Database interface {
	// Each calls f for each row, which was read into `into`.
	Each(ctx context.Context, text string, args, into []any, f func()) error

	// Change returns the number of changed rows. Within a Write it may be 0, because a store may send the statement
	// later.
	Change(ctx context.Context, text string, args ...any) (changed int64, err error)
}

// Damage names a part of a store that cannot be read. It wraps history.ErrDamaged.
type Damage string

func (d Damage) Error() string { return string(d) + ": " + history.ErrDamaged.Error() }

// Unwrap returns history.ErrDamaged.
func (d Damage) Unwrap() error { return history.ErrDamaged }

// Statements runs statements on DB. After the first error its methods do nothing.
type Statements struct {
	DB      Database
	Err     error
	decoder *zstd.Decoder // nil: nothing was unpacked yet
}

// Over reports whether an error occurred or ctx has ended.
func (s *Statements) Over(ctx context.Context) bool {
	if s.Err == nil {
		s.Err = ctx.Err()
	}
	return s.Err != nil
}

// Each calls f for each row that was read into `into`.
func (s *Statements) Each(ctx context.Context, text string, args, into []any, f func()) {
	if s.Err != nil {
		return
	}
	if err := s.DB.Each(ctx, text, args, into, f); s.Err == nil { // f may have set it
		s.Err = err
	}
}

// Change returns how many rows were changed, see Database.
func (s *Statements) Change(ctx context.Context, text string, args ...any) (changed int64) {
	if s.Err == nil {
		changed, s.Err = s.DB.Change(ctx, text, args...)
	}
	return changed
}

// Tx is one transaction of a Writer.
type Tx struct {
	Statements
	w      *Writer
	terms  []tape.TermFact // that are new in this transaction
	events []tape.EventFact
}

func (t *Tx) exec(text string, args ...any) (changed int64) {
	return t.Change(context.Background(), text, args...)
}

// insert returns the number of the new row.
func (t *Tx) insert(text string, args ...any) (id int64) {
	t.each(text+" returning id", args, []any{&id}, func() {})
	return id
}

// query reads one row; found reports whether it exists.
func (t *Tx) query(text string, args []any, into ...any) (found bool) {
	t.each(text, args, into, func() { found = true })
	return found
}

// each calls f for each row that was read into `into`.
func (t *Tx) each(text string, args, into []any, f func()) {
	t.Each(context.Background(), text, args, into, f)
}

// Unsigned is an unsigned number, which a store has as the signed number with the same bits.
type Unsigned uint64

// Value implements driver.Valuer.
func (u Unsigned) Value() (driver.Value, error) { return int64(u), nil }

// Scan implements sql.Scanner.
func (u *Unsigned) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%T is no number", v)
	}
	*u = Unsigned(n)
	return nil
}
