package liartest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
)

// Frames is a server of HTTP/2 that answers nothing and writes frames.
type Frames struct{ *server }

// FramesForTest starts a Frames that writes the same frames, as they are on the wire, to
// each client until it hangs up. It is closed when the test ends.
func FramesForTest(t TB, frames []byte) *Frames {
	t.Helper()
	return &Frames{listen(t, func(c net.Conn) {
		var reading sync.WaitGroup
		reading.Go(func() { _, _ = io.Copy(io.Discard, c) }) // ends with the connection
		_ = errors.Join(Say(c, string(Frame(4, 0, 0, nil))), Endlessly(c, string(frames)))
		_ = c.Close()
		reading.Wait()
	})}
}

// Frame is a frame of HTTP/2 (RFC 9113, 4.1).
func Frame(kind, flags byte, stream uint32, content []byte) []byte {
	header := binary.BigEndian.AppendUint32(nil, uint32(len(content)))[1:]
	header = append(header, kind, flags)
	return append(binary.BigEndian.AppendUint32(header, stream), content...)
}
