package operate_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/operate"
)

// openings notes how the newest session is opened.
type openings struct {
	coord.Driver
	mu      sync.Mutex
	bound   time.Time
	options coord.SessionOptions
}

func (d *openings) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	d.mu.Lock()
	d.bound, _ = ctx.Deadline()
	d.options = o
	d.mu.Unlock()
	return d.Driver.Open(ctx, o)
}

func TestASessionIsOpenedAsItsRequestWishes(t *testing.T) {
	t.Parallel()
	d := &openings{}
	r := redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) {
		open := b.Open
		b.Open = func(ctx context.Context, space string) (_ coord.Driver, err error) {
			d.Driver, err = open(ctx, space)
			return d, err
		}
	}})
	q := r.ask(action.Acquire, mutex)
	q.Session = action.Session{Lease: time.Minute, RenewEvery: time.Second, StartTimeout: time.Hour, RetryDelay: 7 * time.Second, Description: "me"}
	began := time.Now()
	id := r.do(q)
	r.reaches(id, action.Sent, action.Seen)
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.options; d.bound.Before(began.Add(time.Hour)) || o.Retry.Max != 7*time.Second || o.TTL != time.Minute || o.RenewEvery != time.Second || o.Description != "me" {
		t.Errorf("it is opened until %v with %+v", d.bound, o)
	}
}
