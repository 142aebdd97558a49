package ydbcoord_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

func TestAbsentSemaphoreIsToldOnceAndFoundWhenItIsThere(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		for range 2 {
			noError(t, b.DeleteSemaphore(node, "s"))
			if state := next(t, f); !state.Absent {
				t.Fatalf("deleted: %+v", state)
			}
			before := r.count(isDescribe)
			time.Sleep(20 * time.Second)
			if n := r.count(isDescribe) - before; n < 15 || n > 30 {
				t.Errorf("%d looks in 20 s", n)
			}
			noError(t, b.CreateSemaphore(node, "s", 5, nil))
			time.Sleep(time.Second)
			for state := next(t, f); state.Absent || state.Limit != 5; state = next(t, f) {
				if !state.Absent {
					t.Fatalf("created: %+v", state)
				}
			}
			before = r.count(isDescribe)
			time.Sleep(20 * time.Second)
			if n := r.count(isDescribe) - before; n != 0 {
				t.Errorf("%d looks at what is watched", n)
			}
		}
	})
}

func TestManyAbsentSemaphoresShareTwentyLooksASecond(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		for i := range 500 {
			noError(t, f.Add(fmt.Sprintf("absent-%d", i)))
		}
		synctest.Wait()
		before := r.count(isDescribe)
		time.Sleep(10 * time.Second)
		if n := r.count(isDescribe) - before; n < 190 || n > 201 {
			t.Errorf("%d looks in 10 s, want 200", n)
		}
	})
}

func TestRefusedNameIsToldAndNotFollowed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		f := s.Follow()
		if err := f.Add("\xff"); !errors.Is(err, coord.ErrInvalid) {
			t.Errorf("a name that cannot be: %v", err)
		}
		var got error
		for _, err := range s.Watch(t.Context(), coord.KindSemaphore, "") {
			got = err
		}
		if !errors.Is(got, coord.ErrInvalid) {
			t.Errorf("watching a name that cannot be: %v", got)
		}
	})
}

func TestWatchTellsThatASemaphoreIsAbsentAndThatAMutexIsFree(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		for kind, absent := range map[coord.Kind]bool{coord.KindMutex: false, coord.KindSemaphore: true, coord.KindElection: true} {
			for d, err := range s.Watch(t.Context(), kind, "x") {
				if err != nil || d.Absent != absent || d.Kind != kind || len(d.Owners) != 0 {
					t.Errorf("%v: %+v, %v", kind, d, err)
				}
				break
			}
		}
	})
}
