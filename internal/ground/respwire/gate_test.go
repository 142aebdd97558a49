package respwire_test

import (
	"io"
	"net"
	"testing"

	"coordtop/internal/ground/respwire"
)

// pair returns the two ends of a connection of loopback, the first one with its replies bounded.
func pair(t *testing.T) (ours respwire.Conn, theirs net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Close(), theirs.Close() })
	return respwire.New(c, "server", respwire.Defaults()), theirs
}

func TestWhileItGathersOneReadTakesWhatCameUntilItIsReleased(t *testing.T) {
	t.Parallel()
	ours, theirs := pair(t)
	ours.Gather(true)
	buffer := make([]byte, 100)
	for range 50 { // a Read that nobody releases ends too, and may take the messages one by one
		for range 3 {
			if _, err := io.WriteString(theirs, "+OK\r\n"); err != nil {
				t.Fatal(err)
			}
		}
		ours.Release()
		n, err := ours.Read(buffer)
		if err != nil || n == 0 {
			t.Fatalf("Read = %d, %v", n, err)
		}
		if n == 15 {
			return
		}
		if _, err := io.ReadFull(ours, buffer[:15-n]); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("no Read took three messages that were there")
}

func TestAReadThatGathersIsWokenByTheFirstByte(t *testing.T) {
	t.Parallel()
	ours, theirs := pair(t)
	ours.Gather(true)
	read := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(ours, make([]byte, 5)) // received below
		read <- err
	}()
	for range 3 { // it has passed the gate, or will
		ours.Release()
	}
	if _, err := io.WriteString(theirs, "+OK\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
	_ = theirs.Close()
	if n, err := ours.Read(make([]byte, 5)); err != io.EOF {
		t.Errorf("behind the end: %d, %v", n, err)
	}
}
