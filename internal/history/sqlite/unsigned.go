package sqlite

import (
	"database/sql/driver"
	"fmt"
)

// unsigned is a number as SQLite, which has no unsigned ones, stores it: its bits.
type unsigned uint64

// Value returns the bits.
func (u unsigned) Value() (driver.Value, error) { return int64(u), nil }

// Scan takes the bits.
func (u *unsigned) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%T is no number", v)
	}
	*u = unsigned(n)
	return nil
}
