package operate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"coordtop/coord"
	"coordtop/sources"
)

// shut is a driver that can only be closed.
type shut struct{ coord.Driver }

func (shut) Close(context.Context) error { return nil }

func TestWhoWaitsForOneDriverWaitsForNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, opened := make(chan struct{}), 0
		d := drivers{spots: map[[2]string]*spot{}, backends: map[string]Backend{
			"slow": {Open: func(context.Context, string) (coord.Driver, error) {
				opened++
				<-asked // the password command waits for a finger on a key
				return shut{}, nil
			}},
			"quick": {Open: func(context.Context, string) (coord.Driver, error) { return shut{}, nil }},
		}}
		got := make(chan error, 1)
		go func() { // ends when it is let go below
			_, err := d.of(t.Context(), sources.Ref{Source: "slow"})
			got <- err
		}()
		synctest.Wait()
		if _, err := d.of(t.Context(), sources.Ref{Source: "quick"}); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.of(ctx, sources.Ref{Source: "slow"}); !errors.Is(err, context.Canceled) {
			t.Errorf("who waits for the slow one and is called off gets %v", err)
		}
		close(asked)
		if err := <-got; err != nil {
			t.Error(err)
		}
		if _, err := d.of(t.Context(), sources.Ref{Source: "slow"}); err != nil || opened != 1 {
			t.Errorf("opened %d times, %v", opened, err)
		}
		if err := d.close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
