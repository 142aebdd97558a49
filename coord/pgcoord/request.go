package pgcoord

import (
	"fmt"

	"coordtop/coord"
)

// request is a claim, worked out.
type request struct {
	coord.Claim
	key Key
}

// check finds what can be refused before anything is sent.
func check(c coord.Claim) error {
	switch {
	case c.Kind != coord.KindMutex && c.Kind != coord.KindElection:
		return fmt.Errorf("a %v: %w", c.Kind, coord.ErrUnsupported)
	case c.Permits > 1:
		return fmt.Errorf("%d permits of a lock: %w", c.Permits, coord.ErrUnsupported)
	case c.Ephemeral:
		return fmt.Errorf("an ephemeral lock: %w", coord.ErrUnsupported)
	}
	if c.TTL != 0 {
		if err := checkTTL(c.TTL); err != nil {
			return err
		}
	}
	return nil
}

// sql calls one of the lock functions on the key, in the claim's mode.
func (r request) sql(function string) string {
	if r.Mode == coord.Shared {
		function += "_shared"
	}
	if r.key.Sub == subPair {
		return "select pg_catalog." + function + "($1::int4, $2::int4)"
	}
	return "select pg_catalog." + function + "($1::int8)"
}

func (r request) args() []string {
	if a, b, ok := r.key.Pair(); ok {
		return []string{itoa(int64(a)), itoa(int64(b))}
	}
	n, _ := r.key.Bigint()
	return []string{itoa(n)}
}
