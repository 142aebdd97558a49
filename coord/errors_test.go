package coord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

func TestErrorNamesItsDriverOnce(t *testing.T) {
	t.Parallel()
	s, err := coord.Open(t.Context(), coordtest.NewMem(coordtest.GrantRenews, coordtest.MemOptions{}).NewDriver(nil), coord.SessionOptions{})
	noError(t, err)
	noError(t, s.Close(t.Context()))
	ended := &coord.Error{Op: "renew", Driver: "mem", Err: coord.ErrExpired}
	_, err = s.Mutex("m", coord.MutexOptions{}).Lock(t.Context())
	for _, err := range []error{err, &coord.Error{Op: "acquire", Driver: "mem", Kind: coord.KindMutex, Name: "m", Err: ended}} {
		if n := strings.Count(err.Error(), "mem: "); n != 1 {
			t.Errorf("%q names its driver %d times, want once", err, n)
		}
	}
}

func TestLostKeepsWhatSaysWhySomethingEnded(t *testing.T) {
	t.Parallel()
	for _, why := range []error{coord.ErrLost, coord.ErrExpired, coord.ErrReleased, coord.ErrClosed} {
		if err := fmt.Errorf("grant: %w", why); coord.Lost(err) != err {
			t.Errorf("%v becomes %v, want it unchanged", err, coord.Lost(err))
		}
	}
	if err := coord.Lost(context.Canceled); !errors.Is(err, coord.ErrLost) || !errors.Is(err, context.Canceled) {
		t.Errorf("another error becomes %v, want a loss that wraps it", err)
	}
}

func TestUncertainIsOneSentence(t *testing.T) {
	t.Parallel()
	err := &coord.Error{Op: "acquire", Driver: "mem", Err: coord.Uncertain("it would run out within 1s", context.Canceled)}
	var plain interface{ Sentence() string }
	if !errors.As(err, &plain) || plain.Sentence() != "whether it was taken is not known; it would run out within 1s" {
		t.Errorf("%v has no sentence of its own", err)
	}
	if !errors.Is(err, coord.ErrUncertain) || !errors.Is(err, context.Canceled) || !coord.Passing(err) {
		t.Errorf("%v: want it uncertain, with its cause, and passing", err)
	}
}
