package ydbcoord

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Bounds of one message. Two bytes of a message can stand for an owner, who takes 100 times
// as much in memory, so its parts are counted before any of them is made: messages within
// it, strings, and elements of packed lists.
const (
	longestMessage = 16 << 20
	mostParts      = 200_000
	deepestMessage = 100
)

// boundedProto is the codec of every call: protobuf, with its parts counted.
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

// countParts subtracts the parts of b, a message of this kind, from left.
func countParts(b []byte, kind protoreflect.MessageDescriptor, depth int, left *int) error {
	if depth == 0 {
		return fmt.Errorf("an answer that is nested more than %d deep", deepestMessage)
	}
	var url string // of an Any, whose value is a message too
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

// weight is how many parts a field with this content is by itself.
func weight(f protoreflect.FieldDescriptor, content []byte) int {
	if f.IsPacked() || f.IsList() && f.Message() == nil && f.Kind() != protoreflect.StringKind && f.Kind() != protoreflect.BytesKind {
		return len(content)
	}
	return 1
}
