package respwire

import (
	"bytes"
	"net"
	"testing"
)

func TestAReadBehindAFullOneDoesNotWaitForRelease(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	go func() { _, _ = theirs.Write(bytes.Repeat([]byte("."), 25)) }()
	g := newGate(ours)
	g.Gather(true)
	buffer := make([]byte, 10)
	for i, left := range []int{0, 1, 1} { // a Read that waits takes the Release that the others leave
		g.Release()
		if n, err := g.read(ours, buffer); n == 0 || err != nil {
			t.Fatalf("read = %d, %v", n, err)
		}
		if n := len(g.released); n != left {
			t.Errorf("Releases left after Read %d: %d, want %d", i+1, n, left)
		}
	}
}
