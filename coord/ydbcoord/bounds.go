package ydbcoord

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// ForeignError reports that a server sent something that no YDB sends. The connection has ended.
type ForeignError struct {
	Addr string // host:port of the server
	What string // what it sent: "more than 100000 frames of HTTP/2 without content"
}

// Error returns a text with the server, what it sent and what that means.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s sent %s: it is not a YDB, or something between changes its answers; check host and port", e.Addr, e.What)
}

// Bounds of the frames of HTTP/2 that carry little or nothing: pings, settings, headers,
// tiny data. A YDB sends us about a hundred a second, and a burst when everything that we watch
// changes at once.
const (
	mostFrames  = 100_000          // in refillEvery; a slow machine can read some 10,000 a second
	refillEvery = 20 * time.Second // so 5,000 a second
	tinyContent = 64               // bytes; a frame with less data counts
)

const dataKind = 0

// frames is a connection that counts the server's frames.
type frames struct {
	net.Conn
	fail func(error) // called once, with the *ForeignError that ended reading

	header []byte // of the current frame, as far as received
	rest   int    // bytes of its content still to come
	left   int
	filled time.Time
	wrong  error
}

// Read implements net.Conn.
func (f *frames) Read(p []byte) (int, error) {
	if f.wrong != nil {
		return 0, f.wrong
	}
	n, err := f.Conn.Read(p)
	if f.count(p[:n]) {
		return n, err
	}
	f.wrong = &ForeignError{f.RemoteAddr().String(), fmt.Sprintf("more than %d frames of HTTP/2 without content in a row", mostFrames)}
	f.fail(f.wrong)
	return 0, f.wrong
}

// count counts the frames in p and reports whether they keep to the bounds.
func (f *frames) count(p []byte) bool {
	for len(p) > 0 {
		if f.rest > 0 {
			took := min(f.rest, len(p))
			f.rest -= took
			p = p[took:]
			continue
		}
		took := min(frameHeader-len(f.header), len(p))
		f.header = append(f.header, p[:took]...)
		p = p[took:]
		if len(f.header) < frameHeader {
			return true
		}
		size := int(binary.BigEndian.Uint32(append([]byte{0}, f.header[:3]...)))
		kind := f.header[3]
		f.rest, f.header = size, f.header[:0]
		if kind == dataKind && size >= tinyContent {
			continue
		}
		if !f.spend() {
			return false
		}
	}
	return true
}

// spend counts one frame and reports whether it was allowed now.
func (f *frames) spend() bool {
	if now := time.Now(); now.Sub(f.filled) >= refillEvery {
		f.left, f.filled = mostFrames, now
	}
	f.left--
	return f.left >= 0
}

// counting implements transport credentials whose connections count frames, after decryption if there is TLS. It passes
// the *ForeignError that ended a connection to fail.
type counting struct {
	credentials.TransportCredentials
	fail func(error)
}

func newCounting(config *tls.Config, fail func(error)) credentials.TransportCredentials {
	if config == nil {
		return counting{insecure.NewCredentials(), fail}
	}
	return counting{credentials.NewTLS(config), fail}
}

// ClientHandshake implements credentials.TransportCredentials.
func (c counting) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		return nil, nil, err
	}
	return &frames{Conn: conn, fail: c.fail}, info, nil
}

// Clone implements credentials.TransportCredentials.
func (c counting) Clone() credentials.TransportCredentials {
	return counting{c.TransportCredentials.Clone(), c.fail}
}

// Bounds of one message. Two bytes of a message can stand for an owner, which takes 100 times as much memory. So the
// parts of a message (messages within it, strings, and elements of packed lists) are counted before it is decoded.
const (
	longestMessage = 16 << 20
	mostParts      = 200_000
	deepestMessage = 100
)

// boundedProto is the codec of every call: protobuf with a limit for the parts of a message.
type boundedProto struct{ encoding.CodecV2 }

func newBoundedProto() encoding.CodecV2 { return boundedProto{encoding.GetCodecV2("proto")} }

// Unmarshal implements encoding.CodecV2.
func (boundedProto) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("a %T is no message of protobuf", v)
	}
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	left := mostParts
	if err := countParts(buffer.ReadOnlyData(), m.ProtoReflect().Descriptor(), deepestMessage, &left); err != nil {
		return err
	}
	return proto.Unmarshal(buffer.ReadOnlyData(), m)
}

// countParts subtracts the number of parts of b, a message of the given kind, from *left.
func countParts(b []byte, kind protoreflect.MessageDescriptor, depth int, left *int) error {
	if depth == 0 {
		return fmt.Errorf("an answer that is nested more than %d deep", deepestMessage)
	}
	var url string // of an Any, whose value is also a message
	for len(b) > 0 {
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, wire, b); n < 0 {
			return protowire.ParseError(n)
		}
		field := b[:n]
		b = b[n:]
		f := kind.Fields().ByNumber(number)
		if f == nil || wire != protowire.BytesType {
			continue
		}
		inner, _ := protowire.ConsumeBytes(field)
		*left -= weight(f, inner)
		if *left < 0 {
			return fmt.Errorf("an answer of more than %d parts", mostParts)
		}
		within := f.Message()
		switch {
		case kind.FullName() != "google.protobuf.Any":
		case f.Number() == 1:
			url = string(inner)
			continue
		default:
			if t, err := protoregistry.GlobalTypes.FindMessageByURL(url); err == nil {
				within = t.Descriptor()
			}
		}
		if within == nil {
			continue
		}
		if err := countParts(inner, within, depth-1, left); err != nil {
			return err
		}
	}
	return nil
}

// weight returns the number of parts for which a field with this content counts, without those of messages in it.
func weight(f protoreflect.FieldDescriptor, content []byte) int {
	if f.IsPacked() || f.IsList() && f.Message() == nil && f.Kind() != protoreflect.StringKind && f.Kind() != protoreflect.BytesKind {
		return len(content)
	}
	return 1
}
