package sources

import (
	"context"
	"log/slog"
	"time"

	"coordtop/internal/backoff"
)

// Spec is one source to run and how to treat it.
type Spec struct {
	Name    string // unique in a Hub; Ref.Source of its primitives
	Type    string // "redis", "postgres", "ydb", "dflockd"
	Address string // for people: without user, password and query
	Source  Source
	Connect time.Duration  // time-out of one Connect; 0: 5 s
	Retry   backoff.Policy // pauses between a failure and the next Connect
	Silence time.Duration  // lowest silence limit; 0: 3 s
	Logger  *slog.Logger   // nil: nothing is logged
}

// Run runs every source until ctx ends and joins all goroutines.
func Run(ctx context.Context, h *Hub, specs []Spec) error {
	h.register(specs)
	<-ctx.Done()
	return ctx.Err()
}
