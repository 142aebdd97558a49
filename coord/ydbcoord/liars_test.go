package ydbcoord_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/liartest"
)

// TestFloodOfFramesIsNamed connects where frames come without end. The error comes long
// before the context ends.
func TestFloodOfFramesIsNamed(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string][]byte{
		"pings":    liartest.Frame(6, 0, 0, make([]byte, 8)),
		"settings": liartest.Frame(4, 0, 0, nil),
		"windows":  liartest.Frame(8, 0, 0, []byte{0, 0, 0, 1}),
		"unknown":  liartest.Frame(99, 0, 0, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			liar := liartest.FramesForTest(t, frames)
			c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Address: liar.Addr(), Database: "/local"})
			noError(t, err)
			defer c.Close(context.Background())
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute) // a loaded machine reads slowly
			defer cancel()
			err = c.Ping(ctx)
			if ctx.Err() != nil {
				t.Error("it took four minutes")
			}
			foreign, ok := errors.AsType[*ydbcoord.ForeignError](err)
			if !ok || foreign.Addr != liar.Addr() || !errors.Is(err, coord.ErrRefused) {
				t.Fatal(err)
			}
		})
	}
}
