package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/spawn"
)

// The coordination node of the demo, and what is made in it before anybody comes.
const (
	ydbNode        = "/local/demo"
	ydbScheduler   = "scheduler"
	ydbSettings    = "settings"
	ydbConnections = "connections"
	ydbExport      = "nightly-export"
	ydbServices    = "services"

	connectionLimit = 10
)

// emulator is a private YDB, as far as coordination goes, inside this process.
type emulator struct{ served *ydbtest.Server }

// startYDB starts the emulator with two front ends, which stand for two YDB nodes: clients
// are told of both.
func startYDB(ctx context.Context, port int) (*emulator, error) {
	if port == 2135 || port == 2136 {
		return nil, fmt.Errorf("starting the YDB emulator: %d is a standard port: choose another", port)
	}
	// Strangers may count on the order of owners, although the service promises none.
	o := ydbtest.Options{AdvertiseAll: true, OwnersInOrder: true, Guard: func(body func()) {
		_ = spawn.Call(ctx, func() error { body(); return nil }) // it runs in our process
	}}
	if port != 0 {
		o.Listen = []string{"127.0.0.1:" + strconv.Itoa(port)}
	}
	s, err := ydbtest.Start(o)
	if err != nil {
		return nil, fmt.Errorf("starting the YDB emulator: %w", err)
	}
	e := &emulator{s}
	if err := e.furnish(); err != nil {
		_ = s.Close() // nobody has used it
		return nil, err
	}
	return e, nil
}

// furnish makes what clients expect to be there.
func (e *emulator) furnish() error {
	if err := e.served.CreateNode(ydbNode); err != nil {
		return fmt.Errorf("making the demo's coordination node: %w", err)
	}
	for _, s := range []struct {
		name  string
		limit uint64
		data  []byte
	}{
		{ydbScheduler, 1, nil}, {ydbSettings, 1, settings{Version: 1, Workers: 8}.encode()}, {ydbConnections, connectionLimit, nil},
	} {
		if err := e.served.CreateSemaphore(ydbNode, s.name, s.limit, s.data); err != nil {
			return fmt.Errorf("making the demo's semaphore %s: %w", s.name, err)
		}
	}
	return nil
}

// URL is that of the first front end.
func (e *emulator) URL() string { return e.served.URL(0) }

// Stop ends it at once.
func (e *emulator) Stop(context.Context) error { return e.served.Close() }

// settings are the shared configuration.
type settings struct {
	Version int `json:"version"`
	Workers int `json:"workers"`
}

func (s settings) encode() []byte {
	return fmt.Appendf(nil, `{"version":%d,"workers":%d}`, s.Version, s.Workers)
}

func decodeSettings(data []byte) (settings, error) {
	var s settings
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("reading the settings: %w", err)
	}
	return s, nil
}
