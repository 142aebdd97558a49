package kit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"coordtop/sources"
	"coordtop/sources/kit"
)

// ended is a Conn that is over from the start.
type ended struct{ closed *int }

var errOver = errors.New("over")

func (e ended) Next(ctx context.Context) (sources.Change, error) {
	return sources.Change{}, errors.Join(errOver, ctx.Err())
}
func (e ended) Close() { *e.closed++ }

// TestAConnectorExplainsItsErrors connects, reads and closes, in the order of a runner and in
// wrong ones.
func TestAConnectorExplainsItsErrors(t *testing.T) {
	t.Parallel()
	closed, broken := 0, errors.New("broken")
	var fails error
	c := kit.Connector{
		Dial:    func(context.Context) (kit.Conn, error) { return ended{&closed}, fails },
		Explain: func(err error, opening bool) error { return fmt.Errorf("opening %v: %w", opening, err) },
	}
	want := func(what string, err error, text string) {
		t.Helper()
		if got := fmt.Sprint(err); got != text {
			t.Errorf("%s: %q, want %q", what, got, text)
		}
	}
	next := func(ctx context.Context) error { _, err := c.Next(ctx); return err }
	want("Next before Connect", next(t.Context()), "not connected")
	fails = broken
	want("a failed Connect", c.Connect(t.Context()), "opening true: broken")
	want("Close after it", c.Close(), "<nil>")
	fails = nil
	want("Connect", c.Connect(t.Context()), "<nil>")
	want("a second Connect", c.Connect(t.Context()), "connecting twice without a Close")
	want("Next", next(t.Context()), "opening false: over")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	want("Next of a context that is over", next(over), "over\ncontext canceled")
	want("Close", c.Close(), "<nil>")
	want("a second Close", c.Close(), "<nil>")
	if closed != 1 {
		t.Errorf("closed %d times, want once", closed)
	}
}
