package pgcoord

import (
	"context"
	"fmt"
	"time"

	"coordtop/coord"
	"coordtop/internal/backoff"
	"coordtop/internal/pgwire"
)

// Enqueue implements coord.Queuer. It returns when the server has put us into its queue.
func (s *session) Enqueue(ctx context.Context, c coord.Claim) (coord.Place, error) {
	p, err := s.startClaim(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := p.queued(ctx); err != nil {
		return nil, p.giveUpLate(ctx, err)
	}
	return p, nil
}

// queued returns when the server shows us in its queue, or there is an outcome. Only its
// list of locks knows: the statement itself says nothing while it waits.
func (p *place) queued(ctx context.Context) error {
	pauses := backoff.Policy{Min: time.Millisecond, Max: 20 * time.Millisecond}.Start()
	for {
		select {
		case <-p.outcome:
			return nil // Wait says which
		default:
		}
		if p.session.driver.options.Poll > 0 {
			return nil
		}
		var rows []row
		err := p.session.read(ctx, func(ctx context.Context, conn *pgwire.Conn) (err error) {
			rows, err = query(ctx, conn, inQueueQuery, itoa(int64(p.connection.facts.pid)))
			return err
		})
		if err != nil {
			return fmt.Errorf("looking at the queue: %w", err)
		}
		if len(rows) > 0 {
			return nil
		}
		if err := pauses.Wait(ctx); err != nil {
			return fmt.Errorf("waiting for a place in the queue: %w", err)
		}
	}
}

const inQueueQuery = `select 1 from pg_catalog.pg_locks where locktype = 'advisory' and pid = $1::int4`
