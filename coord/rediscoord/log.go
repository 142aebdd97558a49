package rediscoord

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/redis/go-redis/v9"
)

// The library has one logger for the whole process, which writes to standard error until
// somebody replaces it. silenced makes the first of NewClient and LogTo replace it once,
// so that a NewClient never undoes a LogTo.
var silenced sync.Once

func silence() {
	silenced.Do(func() { redis.SetLogger(logger{slog.New(slog.DiscardHandler)}) })
}

// LogTo sends what the Redis library has to say, in the whole process, to l. Without it
// the library is silent. It may be called at any time; the last call counts.
func LogTo(l *slog.Logger) {
	silenced.Do(func() {})
	redis.SetLogger(logger{l})
}

// logger makes a slog.Logger of what the library wants.
type logger struct{ to *slog.Logger }

func (l logger) Printf(ctx context.Context, format string, args ...any) {
	l.to.WarnContext(ctx, "redis library", "text", fmt.Sprintf(format, args...))
}
