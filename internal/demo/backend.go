package demo

import (
	"context"
	"io"

	"coordtop/internal/localserver"
	"coordtop/internal/spawn"
)

// server is a private server that runs.
type server interface {
	URL() string
	Stop(ctx context.Context) error
}

// backend is one server of the scenario, before it is started.
type backend struct {
	name     string
	port     int // that was asked for; 0: any
	contests []contest
	query    string // of a URL that shows exactly the contests
	names    map[string]string
	start    func(ctx context.Context) (server, error)
}

func backends(o Options) []backend {
	return []backend{
		{
			name: "redis", port: o.RedisPort, contests: redisContests(), query: redisQuery,
			start: func(ctx context.Context) (server, error) {
				return started(localserver.StartRedis(ctx, localserver.RedisOptions{Port: o.RedisPort}))
			},
		},
		{
			name: "postgres", port: o.PostgresPort, contests: postgresContests(), query: postgresQuery,
			names: map[string]string{compactorKey: "ledger/compactor"},
			start: func(ctx context.Context) (server, error) {
				return started(localserver.StartPostgres(ctx, localserver.PostgresOptions{Port: o.PostgresPort, Bin: o.PostgresBin}))
			},
		},
		{
			name: "ydb", port: o.YDBPort, contests: ydbContests(), query: ydbQuery,
			start: func(ctx context.Context) (server, error) { return startYDB(ctx, o.YDBPort) },
		},
		{
			name: "dflockd", port: o.DflockdPort, contests: dflockdContests(), query: dflockdQuery,
			start: func(ctx context.Context) (server, error) { return startDflockd(ctx, o.DflockdPort) },
		},
	}
}

// started keeps a nil pointer from becoming a server.
func started[S server](s S, err error) (server, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// emulator is a server inside this process: a YDB, as far as coordination goes, or a dflockd.
type emulator struct {
	url string
	io.Closer
}

func (e emulator) URL() string { return e.url }

func (e emulator) Stop(context.Context) error { return e.Close() }

// guard contains the panics of a server inside this process.
func guard(ctx context.Context) func(body func()) {
	return func(body func()) {
		_ = spawn.Call(ctx, func() error { body(); return nil }) // else it would end our process
	}
}
