package objective_test

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/objective"
	"coordtop/sources"
)

// TestObjectivesAreEvaluatedOnlyWhileSomebodyAsks counts the evaluations: a recorder that stands by shows no objectives,
// and reads no sums of the store for them.
func TestObjectivesAreEvaluatedOnlyWhileSomebodyAsks(t *testing.T) {
	t.Parallel()
	o, err := objective.Parse("*", "99 % led over 1h")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var evaluated atomic.Int64
		k := objective.NewKeeper([]objective.Objective{o}, nil, func() *sources.State {
			evaluated.Add(1)
			return &sources.State{}
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- k.Run(ctx) }() // received below
		check := func(what string, want int64, results int) {
			t.Helper()
			synctest.Wait()
			if n, got := evaluated.Load(), len(k.Results()); n != want || got != results {
				t.Errorf("%s: evaluated %d times, want %d; %d results, want %d", what, n, want, got, results)
			}
			synctest.Wait()
		}
		time.Sleep(time.Hour)
		check("before somebody asks", 0, 0) // it asks
		check("asked", 1, 1)
		for range 90 {
			time.Sleep(time.Second)
			k.Results()
		}
		check("asked once a second", 4, 1)
		time.Sleep(time.Hour)
		check("an hour later, of which it has no results", 5, 0)
		check("asked again", 6, 1)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// unread is a recording that cannot be read.
type unread struct {
	history.Reader
	err error
}

func (u unread) Totals(context.Context, history.Span) ([]history.Total, error) { return nil, u.err }

// TestThereAreNoResultsWhileTheRecordingCannotBeRead also has recordings in which nothing is: then memory counts.
func TestThereAreNoResultsWhileTheRecordingCannotBeRead(t *testing.T) {
	t.Parallel()
	o, err := objective.Parse("*", "99 % led over 1h")
	if err != nil {
		t.Fatal(err)
	}
	for cause, want := range map[error]int{errors.New("disk failure"): 0, fs.ErrNotExist: 1, history.ErrNothing: 1} {
		synctest.Test(t, func(t *testing.T) {
			k := objective.NewKeeper([]objective.Objective{o}, unread{err: cause}, func() *sources.State { return &sources.State{} })
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- k.Run(ctx) }() // received below
			k.Results()
			synctest.Wait()
			if got := len(k.Results()); got != want {
				t.Errorf("%v: %d results, want %d", cause, got, want)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
