package coord_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

func TestProclamationThatHangsEndsWithTheTerm(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		term := w.campaign(w.s, "one")
		w.link.Set(coordtest.VerbPublish, coordtest.Drop(), 0)
		w.link.Set(coordtest.VerbRenew, coordtest.Drop(), 0)
		end := term.Lease().TrustedUntil()
		errs := make(chan error, 2)
		for range 2 { // one is sent, the other waits for it
			go func() { errs <- term.Proclaim(w.Context(), []byte("two")) }()
		}
		uncertain := 0
		for range 2 {
			err := <-errs
			w.want("Proclaim", err, coord.ErrExpired)
			if errors.Is(err, coord.ErrUncertain) {
				uncertain++
			}
		}
		if uncertain != 1 {
			w.Errorf("%d are not known to be written or not, want the one that was sent", uncertain)
		}
		if !time.Now().Equal(end) || w.link.Calls(coordtest.VerbPublish) != 1 {
			w.Errorf("%v after the end, %d sent", time.Since(end), w.link.Calls(coordtest.VerbPublish))
		}
	})
}

func TestTryCampaignIsNoErrorWhenAnotherLeads(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		term, ok, err := election(w.s).TryCampaign(w.Context(), nil)
		if term == nil || !ok || err != nil {
			w.Fatalf("%v, %v, %v", term, ok, err)
		}
		term, ok, err = election(w.rival()).TryCampaign(w.Context(), nil)
		if term != nil || ok || err != nil {
			w.Errorf("%v, %v, %v", term, ok, err)
		}
	})
}

func TestProclaimSendsNothingThatCannotSucceed(t *testing.T) {
	t.Parallel()
	for shape, d := range stubs() {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			term, err := election(openStub(t, d, options())).Campaign(t.Context(), nil)
			noError(t, err)
			if err := term.Proclaim(t.Context(), make([]byte, 11)); !errors.Is(err, coord.ErrDataTooLong) {
				t.Errorf("too long: %v", err)
			}
			d.grant(0).end(coord.ErrExpired)
			if err := term.Proclaim(t.Context(), nil); !errors.Is(err, coord.ErrExpired) {
				t.Errorf("after the term: %v", err)
			}
			if n := d.publications.Load(); n != 0 {
				t.Errorf("%d sent", n)
			}
		})
	}
}

func TestProclamationThatFailsDoesNotEndTheTermUnlessItIsLost(t *testing.T) {
	t.Parallel()
	cut := errors.New("cut")
	for _, c := range []struct{ said, want error }{{cut, nil}, {coord.ErrLost, coord.ErrLost}} {
		for shape, d := range stubs() {
			d.publish = func(context.Context, []byte) error { return c.said }
			s := openStub(t, d, options())
			term, err := election(s).Campaign(t.Context(), nil)
			noError(t, err)
			if err := term.Proclaim(t.Context(), nil); !errors.Is(err, c.said) {
				t.Errorf("%s: Proclaim: %v, want %v", shape, err, c.said)
			}
			if err := term.Lease().Check(); !errors.Is(err, c.want) {
				t.Errorf("%s: the service said %v, Check %v", shape, c.said, err)
			}
			s.Abandon()
		}
	}
}

func TestProclamationsGoOutOneAfterTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := grantStub()
		var sending atomic.Int64
		d.publish = func(context.Context, []byte) error {
			if sending.Add(1) > 1 {
				t.Error("two at a time")
			}
			time.Sleep(time.Second)
			sending.Add(-1)
			return nil
		}
		term, err := election(openStub(t, d, options())).Campaign(t.Context(), nil)
		noError(t, err)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if err := term.Proclaim(t.Context(), nil); err != nil {
					t.Errorf("Proclaim: %v", err)
				}
			})
		}
		all.Wait()
	})
}

func TestProclaimIsUnsupportedWhereALeaderCarriesNoData(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		s := w.open(coordtest.Hide(w.mem.NewDriver(nil), coordtest.CanPublish), options())
		w.want("Proclaim", w.campaign(s, "").Proclaim(w.Context(), nil), coord.ErrUnsupported)
	})
}
