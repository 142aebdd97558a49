package ydbcoord

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ydb-platform/ydb-go-sdk/v3"
	sdklog "github.com/ydb-platform/ydb-go-sdk/v3/log"
	"github.com/ydb-platform/ydb-go-sdk/v3/trace"
	"google.golang.org/grpc/grpclog"
)

// LogTo sends what gRPC has to say, in the whole process, to l: without it gRPC writes to
// standard error. Each call replaces the one before. The first has to be made before gRPC is
// used, also by others in the process, as gRPC itself asks; the later ones at any time.
func LogTo(l *slog.Logger) { grpcLog().to.Store(l) }

// grpcLog is gRPC's logger. gRPC may be given one once only.
var grpcLog = sync.OnceValue(func() *grpcLogger {
	g := &grpcLogger{}
	grpclog.SetLoggerV2(g)
	return g
})

// grpcLogger makes what gRPC wants of a slog.Logger. Its Info is about every connection
// made and is left out.
type grpcLogger struct{ to atomic.Pointer[slog.Logger] }

var _ grpclog.LoggerV2 = (*grpcLogger)(nil)

func (g *grpcLogger) say(level slog.Level, text string) {
	if l := g.to.Load(); l != nil {
		l.Log(context.Background(), level, "grpc library", "text", strings.TrimSpace(text))
	}
}

func (*grpcLogger) Info(...any)           {}
func (*grpcLogger) Infoln(...any)         {}
func (*grpcLogger) Infof(string, ...any)  {}
func (g *grpcLogger) Warning(args ...any) { g.say(slog.LevelWarn, fmt.Sprint(args...)) }
func (g *grpcLogger) Warningln(args ...any) {
	g.say(slog.LevelWarn, fmt.Sprintln(args...))
}
func (g *grpcLogger) Warningf(format string, args ...any) {
	g.say(slog.LevelWarn, fmt.Sprintf(format, args...))
}
func (g *grpcLogger) Error(args ...any)   { g.say(slog.LevelError, fmt.Sprint(args...)) }
func (g *grpcLogger) Errorln(args ...any) { g.say(slog.LevelError, fmt.Sprintln(args...)) }
func (g *grpcLogger) Errorf(format string, args ...any) {
	g.say(slog.LevelError, fmt.Sprintf(format, args...))
}
func (g *grpcLogger) Fatal(args ...any)   { g.say(slog.LevelError, fmt.Sprint(args...)) }
func (g *grpcLogger) Fatalln(args ...any) { g.say(slog.LevelError, fmt.Sprintln(args...)) }
func (g *grpcLogger) Fatalf(format string, args ...any) {
	g.say(slog.LevelError, fmt.Sprintf(format, args...))
}

// V says no to what is only for information.
func (*grpcLogger) V(int) bool { return false }

// sdkLogger makes what the SDK wants of a slog.Logger; nil logs nothing.
type sdkLogger struct{ to *slog.Logger }

// sdkEvents are those that say why a connection is not had; there are others a message.
const sdkEvents = trace.DriverBalancerEvents | trace.DriverRepeaterEvents | trace.DiscoveryEvents

// logging is given to the SDK in any case: without it YDB_LOG_SEVERITY_LEVEL makes the SDK
// write to standard error, which may be a screen of ours.
func logging(l *slog.Logger) ydb.Option {
	if l == nil {
		return ydb.WithLogger(sdkLogger{}, trace.Details(0))
	}
	return ydb.WithLogger(sdkLogger{l}, sdkEvents)
}

// Log implements the SDK's logger. Levels below a warning are left out.
func (s sdkLogger) Log(ctx context.Context, msg string, fields ...sdklog.Field) {
	level := slog.LevelWarn
	switch sdklog.LevelFromContext(ctx) {
	case sdklog.WARN:
	case sdklog.ERROR, sdklog.FATAL:
		level = slog.LevelError
	default:
		return
	}
	if s.to == nil {
		return
	}
	attrs := []slog.Attr{slog.String("of", strings.Join(sdklog.NamesFromContext(ctx), ".")), slog.String("text", msg)}
	for _, f := range fields {
		attrs = append(attrs, slog.String(f.Key(), f.String()))
	}
	s.to.LogAttrs(ctx, level, "ydb library", attrs...)
}
