package sources_test

import (
	"context"
	"errors"
	"testing"

	"coordtop/internal/spawn"
	"coordtop/sources"
)

func TestFirstErrorEndsTheLinkAndIsWhatNextReturns(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		work func() error
		want error
	}{
		"an error": {func() error { return boom }, boom},
		"a panic":  {func() error { panic("boom") }, spawn.ErrPanic},
	} {
		l := sources.NewLink(spawn.With(t.Context(), func(*spawn.Panic) {}))
		l.Start(c.work)
		<-l.Context().Done()
		l.Close()
		l.Start(func() error { return errors.New("later") })
		l.Close()
		if _, err := l.Next(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := l.Send(sources.Change{}); !errors.Is(err, c.want) {
			t.Errorf("%s: Tell: %v", name, err)
		}
	}
}

func TestNextEndsWithItsOwnContext(t *testing.T) {
	t.Parallel()
	l := sources.NewLink(t.Context())
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
