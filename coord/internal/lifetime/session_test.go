package lifetime_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"coordtop/coord/internal/lifetime"
)

var errShut, errOther = errors.New("shut"), errors.New("other")

func TestALifeEndsOnceAndForTheFirstCause(t *testing.T) {
	t.Parallel()
	l := lifetime.NewLife()
	if l.Err() != nil {
		t.Error("it has a cause before it ends")
	}
	if !l.Finish(errShut) || l.Finish(errOther) {
		t.Error("want the first call alone to end it")
	}
	<-l.Done()
	if l.Err() != errShut {
		t.Errorf("it ended with %v, want the first cause", l.Err())
	}
}

func TestAShutSessionLetsNothingIn(t *testing.T) {
	t.Parallel()
	s := lifetime.NewSession[int](t.Context())
	for g := range 4 {
		if !s.Add(g) {
			t.Fatal("an open session takes no grant")
		}
	}
	s.Remove(2)
	if grants, first := s.Shut(errShut); !first || !slices.Equal(grants, []int{3, 1, 0}) {
		t.Errorf("the grants are %v, first %v, want the newest first without the removed one", grants, first)
	}
	if grants, first := s.Shut(errOther); first || grants != nil || s.Over() != errShut {
		t.Errorf("a second shut: %v, first %v, cause %v", grants, first, s.Over())
	}
	if s.Add(9) {
		t.Error("it takes a grant")
	}
	if _, _, over := s.Enter(t.Context()); over != errShut {
		t.Errorf("a call begins: %v", over)
	}
	if s.Err() != nil {
		t.Error("its life has ended, which is for the driver to say")
	}
}

func TestShutEndsTheCallsThatWaitWaitsFor(t *testing.T) {
	t.Parallel()
	s := lifetime.NewSession[int](t.Context())
	call, leave, err := s.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan struct{})
	s.Start(call, func() {
		defer close(ran)
		<-call.Done()
	})
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		s.Wait()
	}()
	s.Shut(errShut)
	<-ran
	if context.Cause(call) != errShut {
		t.Errorf("the call ended with %v, want the cause of the shut", context.Cause(call))
	}
	select {
	case <-waited:
		t.Error("Wait returned before the call had left")
	default:
	}
	leave()
	<-waited
}
