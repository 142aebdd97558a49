package ydbcoord

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	sdklog "github.com/ydb-platform/ydb-go-sdk/v3/log"
	"github.com/ydb-platform/ydb-go-sdk/v3/trace"
	"google.golang.org/grpc/grpclog"
)

// LogTo sends the messages of gRPC, in the whole process, to l. Without LogTo, gRPC writes to standard error. Each call
// replaces the one before. gRPC requires that the first call precedes any use of gRPC in the process; later calls may
// come at any time.
func LogTo(l *slog.Logger) { grpcLog().to.Store(l) }

// grpcLog receives the warnings and errors of gRPC, which accepts a logger only once.
var grpcLog = sync.OnceValue(func() *grpcWriter {
	g := &grpcWriter{}
	g.to.Store(slog.New(slog.DiscardHandler))
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, g, io.Discard))
	return g
})

// grpcWriter logs each line that gRPC writes.
type grpcWriter struct{ to atomic.Pointer[slog.Logger] }

// Write implements io.Writer.
func (g *grpcWriter) Write(line []byte) (int, error) {
	_, text, _ := bytes.Cut(line, []byte(" ")) // our log has the date and the time
	_, text, _ = bytes.Cut(text, []byte(" "))
	g.to.Load().Warn("grpc library", "text", string(bytes.TrimSpace(text)))
	return len(line), nil
}

// sdkLogger implements the SDK's interface with a slog.Logger.
type sdkLogger struct{ to *slog.Logger }

// sdkEvents are the events about failures to connect; the SDK has others for each message.
const sdkEvents = trace.DriverBalancerEvents | trace.DriverRepeaterEvents | trace.DiscoveryEvents

// Log implements the SDK's logger. It drops levels below a warning.
func (s sdkLogger) Log(ctx context.Context, msg string, fields ...sdklog.Field) {
	level := slog.LevelWarn
	switch sdklog.LevelFromContext(ctx) {
	case sdklog.WARN:
	case sdklog.ERROR, sdklog.FATAL:
		level = slog.LevelError
	default:
		return
	}
	attrs := []slog.Attr{slog.String("of", strings.Join(sdklog.NamesFromContext(ctx), ".")), slog.String("text", msg)}
	for _, f := range fields {
		attrs = append(attrs, slog.String(f.Key(), f.String()))
	}
	s.to.LogAttrs(ctx, level, "ydb library", attrs...)
}
