package ydbcoord

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Discovery"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Operations"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"coordtop/internal/emulator/liartest"
)

func unmarshal(wire []byte, m proto.Message) error {
	return newBoundedProto().Unmarshal(mem.BufferSlice{mem.SliceBuffer(wire)}, m)
}

// within wraps wire as the field of a message, the innermost number first.
func within(wire []byte, numbers ...protowire.Number) []byte {
	for _, n := range numbers {
		wire = append(protowire.AppendTag(nil, n, protowire.BytesType), protowire.AppendBytes(nil, wire)...)
	}
	return wire
}

func TestMessageOfMillionsOfPartsIsRefusedBeforeItIsMade(t *testing.T) {
	empty := func(n int, field protowire.Number) []byte { return bytes.Repeat(within(nil, field), n) }
	list := append(within([]byte("type.googleapis.com/Ydb.Discovery.ListEndpointsResult"), 1), within(empty(4<<20, 1), 2)...)
	nested := within(nil, 6)
	for range 200 {
		nested = within(nested, 6)
	}
	for name, c := range map[string]struct {
		wire []byte
		into proto.Message
		says string
	}{
		"owners of a semaphore":  {within(empty(4<<20, 5), 4, 11), &Ydb_Coordination.SessionResponse{}, "more than 200000 parts"},
		"waiters of a semaphore": {within(empty(4<<20, 6), 4, 11), &Ydb_Coordination.SessionResponse{}, "more than 200000 parts"},
		"endpoints in an Any":    {within(within(list, 5), 1), &Ydb_Discovery.ListEndpointsResponse{}, "more than 200000 parts"},
		"issues of issues":       {within(nested, 4), &Ydb_Operations.Operation{}, "nested more than 100 deep"},
		"no message":             {[]byte{0xff}, &Ydb_Operations.Operation{}, ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := unmarshal(c.wire, c.into)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 20<<20 {
			t.Errorf("%s: %d MB were allocated", name, grown>>20)
		}
	}
}

func TestLegitimateMessagesAreReadAsTheyAre(t *testing.T) {
	t.Parallel()
	d := &Ydb_Coordination.SemaphoreDescription{Name: "s", Limit: 1, Data: make([]byte, 1<<20)}
	for i := range 50_000 {
		d.Waiters = append(d.Waiters, &Ydb_Coordination.SemaphoreSession{SessionId: uint64(i), OrderId: uint64(i), Count: 1, Data: []byte("host-1:4411"), TimeoutMillis: 1000})
	}
	for _, want := range []proto.Message{
		&Ydb_Coordination.SessionResponse{Response: &Ydb_Coordination.SessionResponse_DescribeSemaphoreResult_{
			DescribeSemaphoreResult: &Ydb_Coordination.SessionResponse_DescribeSemaphoreResult{SemaphoreDescription: d}}},
		&Ydb_Discovery.ListEndpointsResponse{Operation: &Ydb_Operations.Operation{Result: packed(t, &Ydb_Discovery.ListEndpointsResult{
			Endpoints: []*Ydb_Discovery.EndpointInfo{{Address: "h", Port: 1, Service: []string{"x"}}}})}},
	} {
		wire, err := proto.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := want.ProtoReflect().New().Interface()
		if err := unmarshal(wire, got); err != nil || !proto.Equal(got, want) {
			t.Errorf("%v", err)
		}
	}
}

func packed(t *testing.T, m proto.Message) *anypb.Any {
	t.Helper()
	a, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// read returns the part of a server's frames that comes through, and the error that ended reading.
func read(sent []byte) (int, error) {
	server, client := net.Pipe()
	defer client.Close()
	go func() { // ends with the pipe
		_, _ = server.Write(sent)
		_ = server.Close()
	}()
	n, err := io.Copy(io.Discard, &frames{Conn: client, fail: func(error) {}})
	return int(n), err
}

func TestFramesWithContentAreNotCounted(t *testing.T) {
	t.Parallel()
	data := liartest.Frame(0, 0, 1, make([]byte, tinyContent))
	stream := bytes.Repeat(data, mostFrames+2)
	if n, err := read(stream); err != nil || n != len(stream) {
		t.Errorf("%d of %d bytes: %v", n, len(stream), err)
	}
	stream = bytes.Repeat(liartest.Frame(6, 0, 0, make([]byte, 8)), mostFrames)
	if n, err := read(stream); err != nil || n != len(stream) {
		t.Errorf("a burst: %d of %d bytes: %v", n, len(stream), err)
	}
	if _, err := read(bytes.Repeat(liartest.Frame(0, 0, 1, nil), 50*mostFrames)); err == nil {
		t.Error("empty data without end passes")
	}
}
