package pgcoord

import (
	"context"
	"errors"
	"testing"
	"time"

	"coordtop/internal/ground/pgwire"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/localserver"
)

func TestAPanicInAJobEndsTheLinkAndNotTheProgram(t *testing.T) {
	t.Parallel()
	d, err := New(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.newConnection(spawn.With(t.Context(), func(*spawn.Panic) {}), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	err = l.do(t.Context(), func(context.Context, *pgwire.Conn) error { panic("boom") })
	if !errors.Is(err, spawn.ErrPanic) {
		t.Errorf("it says %v", err)
	}
	<-l.done
}
