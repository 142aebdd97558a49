package operate

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// doubtful is a driver whose sessions cannot say at their end what became of their claims.
type doubtful struct{ coord.Driver }

func (d doubtful) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := d.Driver.Open(ctx, o)
	return doubtfulSession{s}, err
}

type doubtfulSession struct{ coord.DriverSession }

func (s doubtfulSession) Close(ctx context.Context) error {
	return coord.Uncertain("the service may keep it", s.DriverSession.Close(ctx))
}

func TestAClaimIsInDoubtForAsLongAsItsBackendSays(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]Backend{
		"as long as the lease": {Lease: 20 * time.Second},
		"longer":               {Lease: 10 * time.Second, Doubts: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWin(t, filepath.Join(t.TempDir(), "audit.jsonl"))
				d := doubtful{coordtest.NewMem(coordtest.GrantRenews, coordtest.MemOptions{}).NewDriver(nil)}
				s, err := coord.Open(t.Context(), d, coord.SessionOptions{})
				if err != nil {
					t.Fatal(err)
				}
				claim := &wait{o: w.n.op, n: w.n, h: newHolding(w.n, time.Now()), b: &b, said: map[string]time.Time{}}
				claim.session = s
				if err := claim.leave(); err == nil || claim.doubt() == "" {
					t.Errorf("left with %v: %q", err, claim.doubt())
				}
				time.Sleep(20*time.Second - time.Millisecond)
				if claim.doubt() == "" {
					t.Error("it may be ours for 20 s, and counts as missed before")
				}
				time.Sleep(time.Millisecond)
				if text := claim.doubt(); text != "" {
					t.Errorf("after 20 s: %q", text)
				}
				w.keeping()
			})
		})
	}
}
