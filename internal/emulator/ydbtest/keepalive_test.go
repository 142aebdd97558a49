package ydbtest_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"coordtop/internal/emulator/ydbtest"
)

// Frames of HTTP/2 (RFC 9113, section 6): grpc-go's own client pings every ten seconds at
// most, so that these are written by hand.
const (
	frameSettings = 4
	framePing     = 6
	frameGoAway   = 7
	flagAck       = 1
)

func writeFrame(t *testing.T, c net.Conn, kind byte, payload []byte) {
	t.Helper()
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	if _, err := c.Write(append(append(head, 0, 0, 0, 0, 0), payload...)); err != nil {
		t.Fatal(err)
	}
}

func readFrame(t *testing.T, c net.Conn) (kind, flags byte) {
	t.Helper()
	head := make([]byte, 9)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	start := binary.BigEndian.Uint32(head)
	if _, err := io.CopyN(io.Discard, c, int64(start>>8)); err != nil {
		t.Fatal(err)
	}
	return byte(start), head[4]
}

func TestIdleConnectionMayPingALittleFasterThanEverySecond(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		c, err := b.Dial(b.ctx, b.Endpoint(0))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		writeFrame(t, c, frameSettings, nil)
		for i := range 10 {
			writeFrame(t, c, framePing, make([]byte, 8))
			for kind, flags := byte(0), byte(0); kind != framePing || flags != flagAck; {
				if kind, flags = readFrame(t, c); kind == frameGoAway {
					t.Fatalf("the server said goodbye after %d pings", i)
				}
			}
			time.Sleep(990 * time.Millisecond)
		}
	})
}
