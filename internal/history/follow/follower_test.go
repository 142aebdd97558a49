package follow_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/follow"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

// flaky is a store that can be taken away.
type flaky struct {
	*sqlite.Reader
	err atomic.Pointer[error]
}

func (l *flaky) fail(err error) {
	if l.err.Store(nil); err != nil {
		l.err.Store(&err)
	}
}

func (l *flaky) Runs(ctx context.Context) ([]history.Run, error) {
	if err := l.err.Load(); err != nil {
		return nil, *err
	}
	return l.Reader.Runs(ctx)
}

func (l *flaky) Cursor(ctx context.Context, run int64, at time.Time) (history.Cursor, error) {
	c, err := l.Reader.Cursor(ctx, run, at)
	return flakyCursor{c, l}, err
}

type flakyCursor struct {
	history.Cursor
	of *flaky
}

func (c flakyCursor) Next(ctx context.Context) (history.Piece, error) {
	if err := c.of.err.Load(); err != nil {
		return history.Piece{}, *err
	}
	return c.Cursor.Next(ctx)
}

// content returns a State without slots and numbers, which differ between runs.
func content(s *sources.State) (any, []sources.Row) {
	var rows []sources.Row
	for _, row := range s.Rows {
		if row != nil {
			r := *row
			r.Slot, r.Gen, r.Rev = 0, 0, 0
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b sources.Row) int { return a.Ref.Compare(b.Ref) })
	return []any{s.Scopes, s.Sources, s.At, s.Thresholds}, rows
}

func same(a, b *sources.State) bool {
	sa, ra := content(a)
	sb, rb := content(b)
	return reflect.DeepEqual(sa, sb) && reflect.DeepEqual(ra, rb)
}

func live(s *sources.State) bool {
	return slices.ContainsFunc(s.Scopes, func(c sources.Scope) bool { return c.Health == sources.HealthLive })
}

// eventually reports whether ok becomes true within some seconds of the bubble.
func eventually(ok func() bool) bool {
	for range 80 {
		if synctest.Wait(); ok() {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func TestAFollowerShowsWhatTheRecorderShowsThroughAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "history.db")
		log := &flaky{Reader: sqlite.NewReader(path)}
		defer log.Close()
		var f *follow.Follower
		instants := []time.Duration{}
		for at := 30 * time.Second; at < historytest.Length-time.Minute; at += 2*time.Minute + 7*time.Second {
			instants = append(instants, at)
		}
		rev := uint64(0)
		historytest.Recorded(t, &recordtest.Recorder{Path: path}, instants, func(hub *sources.Hub, now time.Time) {
			if f == nil {
				f = follow.New(t.Context(), follow.Options{Log: log})
				if err := f.Ready(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			switch {
			case hub == nil:
				if !eventually(func() bool { return !live(f.Hub().State()) && f.Status().Silent != "" }) {
					t.Errorf("%v: without a recorder it shows %+v", now, f.Hub().State().Scopes)
				}
			case !eventually(func() bool { return same(f.Hub().State(), hub.State()) }):
				t.Errorf("%v: %+v\nthe recorder shows\n%+v\nthe follower\n%+v", now, f.Status(), hub.State().Scopes, f.Hub().State().Scopes)
			}
			if r := f.Hub().State().Rev; r < rev {
				t.Errorf("state %d after %d", r, rev)
			} else {
				rev = r
			}
		})
		f.Close()
	})
}

func TestWithoutItsStoreAFollowerShowsEverythingAsOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "history.db")
		log := &flaky{Reader: sqlite.NewReader(path)}
		defer log.Close()
		gone := errors.New("connection refused")
		historytest.Recorded(t, &recordtest.Recorder{Path: path}, []time.Duration{20 * time.Second}, func(hub *sources.Hub, _ time.Time) {
			log.fail(gone)
			early := follow.New(t.Context(), follow.Options{Log: log})
			if err := early.Ready(t.Context()); !errors.Is(err, gone) {
				t.Errorf("a store that was never there: %v", err)
			}
			early.Close()
			log.fail(nil)
			f := follow.New(t.Context(), follow.Options{Log: log})
			defer f.Close()
			if err := f.Ready(t.Context()); err != nil || !live(f.Hub().State()) {
				t.Fatalf("%v, %+v", err, f.Status())
			}
			subscribed := f.Hub().Subscribe(f.Hub().State().LastSeq)
			log.fail(gone)
			if !eventually(func() bool { return !live(f.Hub().State()) }) {
				t.Error("it is shown as live")
			}
			if s := f.Status(); !errors.Is(s.Err, gone) || !strings.Contains(s.Silent, "cannot be read") {
				t.Errorf("%+v", s)
			}
			for _, row := range f.Hub().State().Rows {
				if row != nil && row.Fresh(f.Hub().State()) {
					t.Errorf("%v is fresh", row.Ref)
				}
			}
			log.fail(nil)
			if !eventually(func() bool { return same(f.Hub().State(), hub.State()) }) {
				t.Errorf("afterwards it shows %+v", f.Hub().State().Scopes)
			}
			if _, missed := subscribed.Events(0); missed > 0 {
				t.Errorf("%d events are missed, though all were recorded", missed)
			}
		})
	})
}
