package coord_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
)

func TestARenewalThatPanicsIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := grantStub()
		l := lockStub(t, openStub(t, d, options()), "job")
		var once atomic.Bool
		d.onRenew(func(context.Context) (coord.Window, error) {
			if !once.Swap(true) {
				panic("boom")
			}
			return d.valid(time.Now()), nil
		})
		time.Sleep(3 * ttl)
		if err := l.Check(); err != nil || !once.Load() {
			t.Errorf("the lease ended: %v", err)
		}
	})
}

func TestGuardNamesTheLineOfThePanic(t *testing.T) {
	t.Parallel()
	var none *coord.Session
	for what, f := range map[string]func() error{
		"said":    func() error { panic("boom") },
		"runtime": func() error { none.ID(); return nil },
	} {
		err := coord.Guard(f)
		if !errors.Is(err, coord.ErrPanic) || !strings.Contains(err.Error(), ".go:") || strings.Contains(err.Error(), "guard.go") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := coord.Guard(func() error { return context.Canceled }); err != context.Canceled {
		t.Errorf("an error became %v", err)
	}
}
